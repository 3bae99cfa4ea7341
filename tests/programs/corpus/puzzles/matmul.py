"""Squares of two matrices go through shared memory, the last ones cut off at the edge."""

import numba
import numpy as np

from warpwise import cuda

SIDE = 3


def problem(cuda):
    def kernel(result, left, right, size: int):
        rows = cuda.shared.array((SIDE, SIDE), numba.float32)
        columns = cuda.shared.array((SIDE, SIDE), numba.float32)
        i, j = cuda.grid(2)
        ti, tj = cuda.threadIdx.x, cuda.threadIdx.y
        total = 0.0
        for first in range(0, size, SIDE):
            rows[ti, tj] = left[i, first + tj] if i < size and first + tj < size else 0
            columns[ti, tj] = right[first + ti, j] if j < size and first + ti < size else 0
            cuda.syncthreads()
            for k in range(min(SIDE, size - first)):
                total += rows[ti, k] * columns[k, tj]
            cuda.syncthreads()
        if i < size and j < size:
            result[i, j] = total

    return kernel


def check():
    left = np.arange(64).reshape(8, 8)
    result = np.zeros((8, 8))
    cuda.jit(problem(cuda))[(3, 3), (SIDE, SIDE)](result, left, left.T, 8)
    assert (result == left @ left.T).all()
