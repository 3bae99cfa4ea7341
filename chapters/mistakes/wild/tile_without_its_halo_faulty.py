"""A block loads one element a thread and then reads a window that reaches past the last of them."""

import numpy as np
from numba import cuda

THREADS, WINDOW, ALL = 32, 5, 36


@cuda.jit
def windows(x, out):
    tile = cuda.shared.array(THREADS, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i]
    cuda.syncthreads()
    total = 0
    for k in range(WINDOW):
        total += tile[t + k]  # expect: OutOfBoundsError
    out[i] = total


def launch(rng):
    return windows, 2, THREADS, (rng.integers(0, 99, 68), np.zeros(64, np.int64))
