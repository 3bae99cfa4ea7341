"""Rows and columns of a halo are loaded, but a stencil with nine points reads its corners as
well."""

import numpy as np
from numba import cuda

TILE = 8
WIDE = TILE + 2


@cuda.jit
def box(x, out):
    tile = cuda.shared.array((WIDE, WIDE), np.int32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    for dy in range(0, WIDE - ty, TILE):
        tile[ty + dy, tx + 1] = x[row + dy, col + 1]
    if tx < 2:
        tile[ty + 1, 9 * tx] = x[row + 1, col + 8 * tx]
    cuda.syncthreads()
    total = 0
    for k in range(9):
        total += tile[ty + k // 3, tx + k % 3]  # expect: UnwrittenReadError
    out[row, col] = total


def launch(rng):
    return (
        box,
        (2, 2),
        (TILE, TILE),
        (rng.integers(0, 99, (18, 18)).astype(np.int32), np.zeros((16, 16), np.int64)),
    )
