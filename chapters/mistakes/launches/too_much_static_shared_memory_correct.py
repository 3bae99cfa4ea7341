"""In single precision the two tiles fit."""

import numpy as np
from numba import cuda

TILE = 64
TYPE = np.float32


@cuda.jit
def product(a, b, c):
    left = cuda.shared.array((TILE, TILE), TYPE)
    right = cuda.shared.array((TILE, TILE), TYPE)
    t = cuda.threadIdx.x
    for row in range(TILE):
        left[row, t] = a[row, t]
        right[row, t] = b[row, t]
    cuda.syncthreads()
    for row in range(TILE):
        for k in range(TILE):
            c[row, t] += left[row, k] * right[k, t]


def launch(rng):
    a, b = (
        rng.integers(0, 9, (TILE, TILE)).astype(TYPE),
        rng.integers(0, 9, (TILE, TILE)).astype(TYPE),
    )
    return product, 1, TILE, (a, b, np.zeros((TILE, TILE), TYPE))


def expected(a, b, c):
    return a @ b
