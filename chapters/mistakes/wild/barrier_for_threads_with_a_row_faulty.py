"""One thread has one row of a sparse matrix, and all threads load a tile of the vector together.
Those without a row neither load their part nor reach the barriers."""

import numpy as np
from numba import cuda

TILE = 32


@cuda.jit
def product(values, columns, x, y):
    tile = cuda.shared.array(TILE, np.float64)
    t, row = cuda.threadIdx.x, cuda.grid(1)
    total = 0.0
    for start in range(0, x.size, TILE):
        if row < y.size:
            tile[t] = x[start + t]
            cuda.syncthreads()  # expect: BarrierError
            for k in range(values.shape[1]):
                c = columns[row, k] - start
                if 0 <= c < TILE:
                    total += values[row, k] * tile[c]
            cuda.syncthreads()
    if row < y.size:
        y[row] = total


def launch(rng):
    columns = rng.integers(0, 2 * TILE, (40, 5))
    return product, 2, TILE, (rng.random((40, 5)), columns, rng.random(2 * TILE), np.zeros(40))
