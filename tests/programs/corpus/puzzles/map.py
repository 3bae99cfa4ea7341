"""Ten is added to each number, a thread for each; a function that takes cuda makes the kernel."""

import numpy as np
from numba import cuda as numba_cuda

from warpwise import cuda, trace


def problem(cuda):
    def kernel(result, numbers):
        me = cuda.threadIdx.x
        result[me] = numbers[me] + 10

    return kernel


def check():
    numbers, result = np.arange(4), np.zeros(4)
    cuda.jit(problem(cuda))[1, 4](result, numbers)
    assert (result == numbers + 10).all()
    again = np.zeros(4)
    traced = trace(numba_cuda.jit(problem(numba_cuda)), 1, 4, again, numbers)
    assert (again == result).all() and not traced.races
