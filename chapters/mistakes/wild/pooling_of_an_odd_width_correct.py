"""The window ends where the input does."""

import numpy as np
from numba import cuda


@cuda.jit
def pool(x, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        best = x[2 * i, 2 * j]
        for r in range(2 * i, min(2 * i + 2, x.shape[0])):
            for c in range(2 * j, min(2 * j + 2, x.shape[1])):
                best = max(best, x[r, c])
        out[i, j] = best


def launch(rng):
    return pool, (1, 1), (8, 8), (rng.integers(0, 99, (10, 9)), np.zeros((5, 5), np.int64))


def expected(x, out):
    return np.pad(x, ((0, 0), (0, 1))).reshape(5, 2, 5, 2).max(axis=(1, 3))
