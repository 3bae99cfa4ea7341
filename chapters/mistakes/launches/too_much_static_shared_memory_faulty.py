"""Two tiles of 64 by 64 doubles are 64 KB; a block has 48 KB of static shared memory."""

import numpy as np
from numba import cuda

TILE = 64
TYPE = np.float64


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


def launch(rng):  # expect: LaunchError 49,152
    a, b = (
        rng.integers(0, 9, (TILE, TILE)).astype(TYPE),
        rng.integers(0, 9, (TILE, TILE)).astype(TYPE),
    )
    return product, 1, TILE, (a, b, np.zeros((TILE, TILE), TYPE))
