"""Two arrays are added position by position."""

import numpy as np

from warpwise import cuda


def problem(cuda):
    def kernel(result, left, right):
        me = cuda.threadIdx.x
        result[me] = left[me] + right[me]

    return kernel


def check():
    left, right, result = np.arange(6), np.arange(6)[::-1].copy(), np.zeros((6,))
    cuda.jit(problem(cuda))[(1, 1), (6, 1)](result, left, right)
    assert (result == 5).all()
