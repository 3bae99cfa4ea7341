"""y = sin(x)^2 + cos(x)^2 with a kernel per operation, and with one: 11 or 2 accesses an element.

Sine and cosine are those of the special-function units (``fastmath``): off by less than 1e-6 for
|x| < pi, and by more beyond. With accurate ones, one kernel would wait for its arithmetic and not
for memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

THREADS = 256
QUAD = np.uint32(4)


@cuda.jit(fastmath=True)
def sine(x, s, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        s[i] = math.sin(x[i])


@cuda.jit(fastmath=True)
def cosine(x, c, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        c[i] = math.cos(x[i])


@cuda.jit
def square(v, squared, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        value = v[i]
        squared[i] = value * value


@cuda.jit
def add(a, b, y, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        y[i] = a[i] + b[i]


@cuda.jit(fastmath=True)
def sine_wide(x, s, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(x, i * QUAD)
        store4(s, i * QUAD, math.sin(a), math.sin(b), math.sin(c), math.sin(d))


@cuda.jit(fastmath=True)
def cosine_wide(x, s, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(x, i * QUAD)
        store4(s, i * QUAD, math.cos(a), math.cos(b), math.cos(c), math.cos(d))


@cuda.jit
def square_wide(v, squared, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(v, i * QUAD)
        store4(squared, i * QUAD, a * a, b * b, c * c, d * d)


@cuda.jit
def add_wide(v, w, y, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        v0, v1, v2, v3 = load4(v, i * QUAD)
        w0, w1, w2, w3 = load4(w, i * QUAD)
        store4(y, i * QUAD, v0 + w0, v1 + w1, v2 + w2, v3 + w3)


@cuda.jit(device=True, fastmath=True)
def of_one(v):
    s, c = math.sin(v), math.cos(v)
    return s * s + c * c


@cuda.jit(fastmath=True)
def fused(x, y, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        y[i] = of_one(x[i])


@cuda.jit(fastmath=True)
def fused_wide(x, y, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(x, i * QUAD)
        store4(y, i * QUAD, of_one(a), of_one(b), of_one(c), of_one(d))


# All steps take x, four arrays for intermediate results, and y. The wide ones take sizes that are
# multiples of 4.


def run_1_five_kernels(x: Array, s: Array, c: Array, s2: Array, c2: Array, y: Array) -> None:
    n = np.uint32(x.size)
    _five(sine, cosine, square, add, n, x, s, c, s2, c2, y)


def run_2_five_wide(x: Array, s: Array, c: Array, s2: Array, c2: Array, y: Array) -> None:
    _five(sine_wide, cosine_wide, square_wide, add_wide, np.uint32(x.size // 4), x, s, c, s2, c2, y)


def _five(
    sine: Any,
    cosine: Any,
    square: Any,
    add: Any,
    threads: int | np.uint32,
    x: Array,
    s: Array,
    c: Array,
    s2: Array,
    c2: Array,
    y: Array,
) -> None:
    launch = _blocks(threads), THREADS
    sine[launch](x, s, threads)
    cosine[launch](x, c, threads)
    square[launch](s, s2, threads)
    square[launch](c, c2, threads)
    add[launch](s2, c2, y, threads)


def run_3_one_kernel(x: Array, s: Array, c: Array, s2: Array, c2: Array, y: Array) -> None:
    fused[_blocks(x.size), THREADS](x, y, np.uint32(x.size))


def run_4_one_wide(x: Array, s: Array, c: Array, s2: Array, c2: Array, y: Array) -> None:
    fused_wide[_blocks(x.size // 4), THREADS](x, y, np.uint32(x.size // 4))


def _blocks(threads: int | np.uint32) -> int:
    return -(-int(threads) // THREADS)


TWO, THREE = (
    "float32[::1], float32[::1], uint32",
    "float32[::1], float32[::1], float32[::1], uint32",
)
WIDE = ("LDG.E.128", "STG.E.128")
FIVE, ONE = (2, 2, 2, 2, 3), (2,)  # accesses per element, of each kernel
APART, TOGETHER = sum(FIVE), sum(ONE)
STEPS = (
    Step(
        "fusion_1_five_kernels",
        "a kernel for each operation",
        run_1_five_kernels,
        (
            *(Built(kernel, TWO, THREADS, 8) for kernel in (sine, cosine, square)),
            Built(add, THREE, THREADS, 8),
        ),
    ),
    Step(
        "fusion_2_five_wide",
        "the same with 16 bytes an access",
        run_2_five_wide,
        (
            *(
                Built(kernel, TWO, THREADS, 8, WIDE)
                for kernel in (sine_wide, cosine_wide, square_wide)
            ),
            Built(add_wide, THREE, THREADS, 8, WIDE),
        ),
    ),
    Step(
        "fusion_3_one_kernel",
        "intermediate results stay in registers",
        run_3_one_kernel,
        (Built(fused, TWO, THREADS, 8, ("MUFU.SIN", "MUFU.COS")),),
    ),
    Step(
        "fusion_4_one_wide",
        "the same with 16 bytes an access",
        run_4_one_wide,
        (Built(fused_wide, TWO, THREADS, 8, (*WIDE, "MUFU.SIN", "MUFU.COS")),),
    ),
)
