"""The copies are made a group, for which the wait is."""

import numpy as np
from numba import cuda

from warpwise.kernels.tensor_core import cp_async16, cp_async_commit, cp_async_wait

THREADS, NUMBERS = 64, 256


@cuda.jit
def turned_round(x, out):
    tile = cuda.shared.array(NUMBERS, np.float32, alignment=16)
    t = cuda.threadIdx.x
    cp_async16(tile, 4 * t, x, 4 * t)
    cp_async_commit()
    cp_async_wait(0)
    cuda.syncthreads()
    for i in range(t, NUMBERS, THREADS):
        out[i] = tile[NUMBERS - 1 - i]


def launch(rng):
    x = rng.random(NUMBERS, dtype=np.float32)
    return turned_round, 1, THREADS, (x, np.zeros(NUMBERS, np.float32))


def expected(x, out):
    return x[::-1]
