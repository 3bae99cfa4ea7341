"""It reads as many places as have been filled."""

import numpy as np
from numba import cuda

WINDOW = 4


@cuda.jit
def moving_sum(x, out):
    window = cuda.local.array(WINDOW, np.float32)
    row = cuda.grid(1)
    for k in range(x.shape[1]):
        window[k % WINDOW] = x[row, k]
        total = np.float32(0)
        for j in range(min(k + 1, WINDOW)):
            total += window[j]
        out[row, k] = total


def launch(rng):
    x = rng.integers(0, 99, (32, 12)).astype(np.float32)
    return moving_sum, 1, 32, (x, np.zeros_like(x))


def expected(x, out):
    return np.array([np.convolve(row, np.ones(WINDOW))[: row.size] for row in x])
