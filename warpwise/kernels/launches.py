"""Cost of launches: empty kernels, and one small computation as five kernels or as one.

The computation is y = sin(x)^2 - cos(x)^2. As five kernels it moves 11 arrays between chip and
memory, as one 2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.fusion import cosine, sine, square
from warpwise.kernels.step import Array, Built, Step

THREADS = 256


@cuda.jit
def empty_0():
    pass


@cuda.jit
def empty_4(a, b, c, d):
    pass


@cuda.jit
def empty_16(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q):
    pass


#: By their number of arrays.
EMPTY = {0: empty_0, 4: empty_4, 16: empty_16}


@cuda.jit
def difference(left, right, target, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        target[i] = left[i] - right[i]


@cuda.jit(fastmath=True)
def all_in_one(source, target, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        s = math.sin(source[i])
        c = math.cos(source[i])
        target[i] = s * s - c * c


def run_1_five(
    x: Array, s: Array, s2: Array, c: Array, c2: Array, y: Array, stream: Any = 0
) -> None:
    """``s`` to ``c2``: workspaces of the size of ``x``. ``stream``: Numba's."""
    n = np.uint32(x.size)
    blocks = -(-x.size // THREADS)
    sine[blocks, THREADS, stream](x, s, n)
    square[blocks, THREADS, stream](s, s2, n)
    cosine[blocks, THREADS, stream](x, c, n)
    square[blocks, THREADS, stream](c, c2, n)
    difference[blocks, THREADS, stream](s2, c2, y, n)


def run_2_fused(x: Array, y: Array, stream: Any = 0) -> None:
    all_in_one[-(-x.size // THREADS), THREADS, stream](x, y, np.uint32(x.size))


ONE, TWO = "float32[::1], float32[::1], uint32", "float32[::1], float32[::1], float32[::1], uint32"
STEPS = (
    Step(
        "launches_1_five",
        "a kernel for each operation",
        run_1_five,
        (
            *(Built(kernel, ONE, THREADS, 8) for kernel in (sine, square, cosine)),
            Built(difference, TWO, THREADS, 8),
        ),
    ),
    Step(
        "launches_2_fused",
        "all operations in one kernel",
        run_2_fused,
        (Built(all_in_one, ONE, THREADS, 8, opcodes=("MUFU.SIN",)),),
    ),
)
