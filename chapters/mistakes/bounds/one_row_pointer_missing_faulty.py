"""The row pointers of a sparse matrix have one entry for each row; the end of the last row is
missing."""

import numpy as np
from numba import cuda


@cuda.jit
def row_sums(first, values, out):
    row = cuda.grid(1)
    if row < out.size:
        for k in range(first[row], first[row + 1]):  # expect: OutOfBoundsError
            out[row] += values[k]


def launch(rng):
    lengths, values = rng.integers(0, 5, 70), rng.integers(0, 9, 300)
    first = np.cumsum(lengths) - lengths
    return row_sums, 2, 64, (first, values, np.zeros(70, np.int64))
