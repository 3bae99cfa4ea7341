"""Rows of 20 words: multiples of 16 bytes, and eight of them cover all banks once."""

import numpy as np
from numba import cuda

from warpwise.kernels.tensor_core import ldmatrix_x4

PITCH, WORDS = 20, 320


@cuda.jit
def first_matrix(x, out):
    tile = cuda.shared.array(WORDS, np.uint32, alignment=16)
    lane = cuda.threadIdx.x
    for i in range(lane, 256, 32):
        tile[i // 16 * PITCH + i % 16] = x[i]
    cuda.syncwarp()
    row, half = lane % 16, lane // 16
    fragments = ldmatrix_x4(tile, row * PITCH + 4 * half)
    out[lane] = fragments[0]


def launch(rng):
    x = rng.integers(0, 2**32, 256, dtype=np.uint32)
    return first_matrix, 1, 32, (x, np.zeros(32, np.uint32))


def expected(x, out):
    return x.reshape(16, 16)[:8, :4].ravel()
