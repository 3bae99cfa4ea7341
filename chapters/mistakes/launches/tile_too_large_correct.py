"""The padding belongs to the tile; the block stays 32 by 32."""

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


def launch(rng):
    src = rng.integers(0, 99, (TILE, TILE)).astype(np.int16)
    return transpose, 1, (TILE, TILE), (src, np.zeros_like(src))


def expected(src, dst):
    return src.T
