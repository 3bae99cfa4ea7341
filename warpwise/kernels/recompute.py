"""Three sigmoids, forward and backward: intermediate values are stored and read, or recomputed.

out = f(f(f(x))) with f(v) = 1 / (1 + exp(-v)), and dx = dout * out(1 - out) * s2(1 - s2) * s1(1 -
s1), where s1 and s2 are the values between. A step is both passes. Accesses per element: 15 with a
kernel for each operation; 9 with one kernel for each pass that stores and reads s1, s2 and out; 8
if the backward pass makes out again; 5 if it makes all again from x.

A sigmoid takes two instructions of the special-function units, exp2 and a reciprocal
(``fastmath``), of which an SM executes 16 per clock (CUDA C++ Programming Guide, throughput of
native arithmetic instructions): three sigmoids per 8 bytes are close to the limit.
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
ONE = np.float32(1)


@cuda.jit(device=True, fastmath=True)
def sigmoid(v):
    return ONE / (ONE + math.exp(-v))


@cuda.jit(device=True, fastmath=True)
def slope(s):
    return s * (ONE - s)


@cuda.jit(device=True, fastmath=True)
def gradient(s1, s2, out, dout):
    return dout * slope(out) * slope(s2) * slope(s1)


@cuda.jit(device=True, fastmath=True)
def gradient_from_s2(s1, s2, dout):
    return gradient(s1, s2, sigmoid(s2), dout)


@cuda.jit(device=True, fastmath=True)
def gradient_from_x(x, dout):
    s1 = sigmoid(x)
    return gradient_from_s2(s1, sigmoid(s1), dout)


@cuda.jit(fastmath=True)
def up(v, s, quads):
    """Return one sigmoid."""
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(v, i * QUAD)
        store4(s, i * QUAD, sigmoid(a), sigmoid(b), sigmoid(c), sigmoid(d))


@cuda.jit(fastmath=True)
def down(s, above, below, quads):
    """Return the gradient below one sigmoid, from its result and the gradient above it."""
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(s, i * QUAD)
        e, f, g, h = load4(above, i * QUAD)
        store4(below, i * QUAD, e * slope(a), f * slope(b), g * slope(c), h * slope(d))


@cuda.jit(fastmath=True)
def forward_storing(x, s1, s2, out, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(x, i * QUAD)
        a, b, c, d = sigmoid(a), sigmoid(b), sigmoid(c), sigmoid(d)
        store4(s1, i * QUAD, a, b, c, d)
        a, b, c, d = sigmoid(a), sigmoid(b), sigmoid(c), sigmoid(d)
        store4(s2, i * QUAD, a, b, c, d)
        store4(out, i * QUAD, sigmoid(a), sigmoid(b), sigmoid(c), sigmoid(d))


@cuda.jit(fastmath=True)
def backward_reading(s1, s2, out, dout, dx, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(s1, i * QUAD)
        e, f, g, h = load4(s2, i * QUAD)
        j, k, m, o = load4(out, i * QUAD)
        p, q, r, t = load4(dout, i * QUAD)
        store4(
            dx,
            i * QUAD,
            gradient(a, e, j, p),
            gradient(b, f, k, q),
            gradient(c, g, m, r),
            gradient(d, h, o, t),
        )


@cuda.jit(fastmath=True)
def backward_out_again(s1, s2, dout, dx, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(s1, i * QUAD)
        e, f, g, h = load4(s2, i * QUAD)
        p, q, r, t = load4(dout, i * QUAD)
        store4(
            dx,
            i * QUAD,
            gradient_from_s2(a, e, p),
            gradient_from_s2(b, f, q),
            gradient_from_s2(c, g, r),
            gradient_from_s2(d, h, t),
        )


@cuda.jit(device=True, fastmath=True)
def three_sigmoids(v):
    return sigmoid(sigmoid(sigmoid(v)))


@cuda.jit(fastmath=True)
def forward_lean(x, out, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(x, i * QUAD)
        store4(
            out,
            i * QUAD,
            three_sigmoids(a),
            three_sigmoids(b),
            three_sigmoids(c),
            three_sigmoids(d),
        )


@cuda.jit(fastmath=True)
def backward_all_again(x, dout, dx, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(x, i * QUAD)
        p, q, r, t = load4(dout, i * QUAD)
        store4(
            dx,
            i * QUAD,
            gradient_from_x(a, p),
            gradient_from_x(b, q),
            gradient_from_x(c, r),
            gradient_from_x(d, t),
        )


@cuda.jit(device=True, fastmath=True)
def four_sigmoids(a, b, c, d):
    """Return sigmoids of numbers above -20, with one reciprocal for four.

    Multiplications turn the reciprocal of a product, which float32 can hold, into all four.
    """
    a, b, c, d = ONE + math.exp(-a), ONE + math.exp(-b), ONE + math.exp(-c), ONE + math.exp(-d)
    ab, cd = a * b, c * d
    of_all = ONE / (ab * cd)
    of_ab, of_cd = of_all * cd, of_all * ab
    return of_ab * b, of_ab * a, of_cd * d, of_cd * c


@cuda.jit(fastmath=True)
def forward_one_reciprocal(x, out, quads):
    """The second and third sigmoids share reciprocals: their arguments are between 0 and 1.

    The first takes any number.
    """
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(x, i * QUAD)
        a, b, c, d = four_sigmoids(sigmoid(a), sigmoid(b), sigmoid(c), sigmoid(d))
        a, b, c, d = four_sigmoids(a, b, c, d)
        store4(out, i * QUAD, a, b, c, d)


@cuda.jit(fastmath=True)
def backward_one_reciprocal(x, dout, dx, quads):
    i = np.uint32(cuda.grid(1))
    if i < quads:
        a, b, c, d = load4(x, i * QUAD)
        p, q, r, t = load4(dout, i * QUAD)
        a, b, c, d = sigmoid(a), sigmoid(b), sigmoid(c), sigmoid(d)
        e, f, g, h = four_sigmoids(a, b, c, d)
        j, k, m, o = four_sigmoids(e, f, g, h)
        store4(
            dx,
            i * QUAD,
            gradient(a, e, j, p),
            gradient(b, f, k, q),
            gradient(c, g, m, r),
            gradient(d, h, o, t),
        )


# All steps take x and dout, six arrays for values that a step stores between kernels or passes, and
# out and dx. Sizes: multiples of 4.


def run_1_eager(
    x: Array, dout: Array, s1: Array, s2: Array, d2: Array, d1: Array, out: Array, dx: Array
) -> None:
    launch, quads = _launch(x)
    for before, after in ((x, s1), (s1, s2), (s2, out)):
        up[launch](before, after, quads)
    for s, above, below in ((out, dout, d2), (s2, d2, d1), (s1, d1, dx)):
        down[launch](s, above, below, quads)


def run_2_stored(
    x: Array, dout: Array, s1: Array, s2: Array, d2: Array, d1: Array, out: Array, dx: Array
) -> None:
    launch, quads = _launch(x)
    forward_storing[launch](x, s1, s2, out, quads)
    backward_reading[launch](s1, s2, out, dout, dx, quads)


def run_3_out_again(
    x: Array, dout: Array, s1: Array, s2: Array, d2: Array, d1: Array, out: Array, dx: Array
) -> None:
    launch, quads = _launch(x)
    forward_storing[launch](x, s1, s2, out, quads)
    backward_out_again[launch](s1, s2, dout, dx, quads)


def run_4_all_again(
    x: Array, dout: Array, s1: Array, s2: Array, d2: Array, d1: Array, out: Array, dx: Array
) -> None:
    launch, quads = _launch(x)
    forward_lean[launch](x, out, quads)
    backward_all_again[launch](x, dout, dx, quads)


def run_5_one_reciprocal(
    x: Array, dout: Array, s1: Array, s2: Array, d2: Array, d1: Array, out: Array, dx: Array
) -> None:
    launch, quads = _launch(x)
    forward_one_reciprocal[launch](x, out, quads)
    backward_one_reciprocal[launch](x, dout, dx, quads)


def _launch(x: Array) -> tuple[tuple[int, int], np.uint32]:
    quads = x.size // 4
    return (-(-quads // THREADS), THREADS), np.uint32(quads)


def _built(kernel: Any, arrays: int) -> Built:
    return Built(
        kernel, "float32[::1], " * arrays + "uint32", THREADS, 8, ("LDG.E.128", "STG.E.128")
    )


STORING = _built(forward_storing, 4)
ACCESSES = (15, 9, 8, 5, 5)  # per element, forward and backward, of each step
STEPS = (
    Step(
        "recompute_1_eager",
        "a kernel for each operation",
        run_1_eager,
        (_built(up, 2), _built(down, 3)),
    ),
    Step(
        "recompute_2_stored",
        "a kernel for each pass",
        run_2_stored,
        (STORING, _built(backward_reading, 5)),
    ),
    Step(
        "recompute_3_out_again",
        "the backward pass makes out again, from s2",
        run_3_out_again,
        (STORING, _built(backward_out_again, 4)),
    ),
    Step(
        "recompute_4_all_again",
        "nothing is stored between: the backward pass makes all again, from x",
        run_4_all_again,
        (_built(forward_lean, 2), _built(backward_all_again, 3)),
    ),
    Step(
        "recompute_5_one_reciprocal",
        "four sigmoids share a reciprocal",
        run_5_one_reciprocal,
        (_built(forward_one_reciprocal, 2), _built(backward_one_reciprocal, 3)),
    ),
)
