"""A loop with <= runs one step too far."""

import numpy as np
from numba import cuda


@cuda.jit
def row_sums(a, out):
    row = cuda.grid(1)
    if row < a.shape[0]:
        total = 0
        k = 0
        while k <= a.shape[1]:
            total += a[row, k]  # expect: OutOfBoundsError
            k += 1
        out[row] = total


def launch(rng):
    return row_sums, 2, 16, (rng.integers(0, 99, (20, 7)), np.zeros(20, np.int64))
