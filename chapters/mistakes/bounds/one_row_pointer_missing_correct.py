"""There is one entry more than rows."""

import numpy as np
from numba import cuda


@cuda.jit
def row_sums(first, values, out):
    row = cuda.grid(1)
    if row < out.size:
        for k in range(first[row], first[row + 1]):
            out[row] += values[k]


def launch(rng):
    lengths, values = rng.integers(0, 5, 70), rng.integers(0, 9, 300)
    first = np.concatenate([[0], np.cumsum(lengths)])
    return row_sums, 2, 64, (first, values, np.zeros(70, np.int64))


def expected(first, values, out):
    return np.array([values[first[k] : first[k + 1]].sum() for k in range(out.size)])
