"""Each half has a mask of its own."""

import numpy as np
from numba import cuda


@cuda.jit
def neighbours_by_half(x, out):
    s = cuda.shared.array(32, np.float32)
    lane = cuda.threadIdx.x
    s[lane] = x[lane]
    mask = 0x0000FFFF if lane < 16 else 0xFFFF0000
    cuda.syncwarp(mask)
    out[lane] = s[lane ^ 1]


def launch(rng):
    x = rng.standard_normal(32).astype(np.float32)
    return neighbours_by_half, 1, 32, (x, np.zeros_like(x))


def expected(x, out):
    return x.reshape(16, 2)[:, ::-1].ravel()
