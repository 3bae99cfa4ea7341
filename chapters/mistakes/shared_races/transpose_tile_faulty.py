"""A tile is read by column before the rows of the other threads are there."""

# scope: warp, block
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
        tile[ty, tx] = src[row, col]  # expect: race
    col = cuda.blockIdx.y * TILE + tx
    row = cuda.blockIdx.x * TILE + ty
    if row < dst.shape[0] and col < dst.shape[1]:
        dst[row, col] = tile[tx, ty]  # expect: race


def launch(rng):
    src = rng.standard_normal((20, 37)).astype(np.float32)
    return transpose, (3, 2), (TILE, TILE), (src, np.zeros((37, 20), np.float32))
