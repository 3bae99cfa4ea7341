"""The barrier between writing the tile by row and reading it by column."""

import numpy as np
from numba import cuda

TILE = 16
PADDED = TILE + 1


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        tile[ty, tx] = src[row, col]
    cuda.syncthreads()
    col = cuda.blockIdx.y * TILE + tx
    row = cuda.blockIdx.x * TILE + ty
    if row < dst.shape[0] and col < dst.shape[1]:
        dst[row, col] = tile[tx, ty]


def launch(rng):
    src = rng.standard_normal((20, 37)).astype(np.float32)
    return transpose, (3, 2), (TILE, TILE), (src, np.zeros((37, 20), np.float32))


def expected(src, dst):
    return src.T
