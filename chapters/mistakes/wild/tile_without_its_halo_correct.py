"""The tile has room for the window, and the first threads load the rest of it."""

import numpy as np
from numba import cuda

THREADS, WINDOW, ALL = 32, 5, 36


@cuda.jit
def windows(x, out):
    tile = cuda.shared.array(ALL, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i]
    if t < WINDOW - 1:
        tile[THREADS + t] = x[i + THREADS]
    cuda.syncthreads()
    total = 0
    for k in range(WINDOW):
        total += tile[t + k]
    out[i] = total


def launch(rng):
    return windows, 2, THREADS, (rng.integers(0, 99, 68), np.zeros(64, np.int64))


def expected(x, out):
    return np.convolve(x, np.ones(WINDOW, np.int64), "valid")
