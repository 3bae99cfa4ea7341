"""A dot product of which one thread makes the sum."""

import numba
import numpy as np

from warpwise import cuda

WIDTH = 8


def problem(cuda):
    def kernel(result, left, right, count):
        products = cuda.shared.array(WIDTH, numba.float32)
        me = cuda.threadIdx.x
        if me < count:
            products[me] = left[me] * right[me]
        cuda.syncthreads()
        if not me:
            total = 0.0
            for k in range(count):
                total += products[k]
            result[0] = total

    return kernel


def check():
    left, right, result = np.arange(7), np.arange(7) + 1, np.zeros(1)
    cuda.jit(problem(cuda))[(1, 1), (WIDTH, 1)](result, left, right, 7)
    assert result[0] == left @ right
