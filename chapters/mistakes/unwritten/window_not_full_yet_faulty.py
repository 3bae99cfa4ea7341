"""A moving sum reads all four places of its window from the first step on."""

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
        for j in range(WINDOW):
            total += window[j]  # expect: UnwrittenReadError
        out[row, k] = total


def launch(rng):
    x = rng.integers(0, 99, (32, 12)).astype(np.float32)
    return moving_sum, 1, 32, (x, np.zeros_like(x))
