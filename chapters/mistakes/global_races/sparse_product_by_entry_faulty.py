"""Entries of one row of a sparse matrix are added to its sum by several threads with +=."""

# scope: warp
import numpy as np
from numba import cuda


@cuda.jit
def spmv(rows, cols, values, x, y):
    k = cuda.threadIdx.x
    if k < values.size:
        y[rows[k]] += values[k] * x[cols[k]]  # expect: race


def launch(rng):
    rows, cols = np.arange(30) // 3, rng.integers(0, 10, 30)
    values, x = rng.integers(1, 9, 30).astype(np.float32), rng.integers(1, 9, 10).astype(np.float32)
    return spmv, 1, 32, (rows, cols, values, x, np.zeros(10, np.float32))
