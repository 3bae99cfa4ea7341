"""A block of 33 by 32 threads, one column more for the padding, is over the limit."""

import numpy as np
from numba import cuda

TILE = 32
PADDED = TILE + 1


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array((TILE, PADDED), np.int16)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = src[ty, tx]
    cuda.syncthreads()
    dst[ty, tx] = tile[tx, ty]


def launch(rng):  # expect: LaunchError 1,056
    src = rng.integers(0, 99, (TILE, TILE)).astype(np.int16)
    return transpose, 1, (PADDED, TILE), (src, np.zeros_like(src))
