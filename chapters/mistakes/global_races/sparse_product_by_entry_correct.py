"""The sum of a row is shared by threads: an atomic addition."""

import numpy as np
from numba import cuda


@cuda.jit
def spmv(rows, cols, values, x, y):
    k = cuda.threadIdx.x
    if k < values.size:
        cuda.atomic.add(y, rows[k], values[k] * x[cols[k]])


def launch(rng):
    rows, cols = np.arange(30) // 3, rng.integers(0, 10, 30)
    values, x = rng.integers(1, 9, 30).astype(np.float32), rng.integers(1, 9, 10).astype(np.float32)
    return spmv, 1, 32, (rows, cols, values, x, np.zeros(10, np.float32))


def expected(rows, cols, values, x, y):
    return np.bincount(rows, values * x[cols], 10)
