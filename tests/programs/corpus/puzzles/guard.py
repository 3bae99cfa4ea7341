"""There are more threads than numbers, so a thread asks whether it has one."""

import numpy as np

from warpwise import cuda

COUNT = 5


def problem(cuda):
    def kernel(result, numbers, count):
        me = cuda.threadIdx.x
        if me < count:
            result[me] = 2 * numbers[me]

    return kernel


def check():
    numbers, result = np.arange(COUNT), np.zeros((COUNT,))
    cuda.jit(problem(cuda))[(1, 1), (8, 1)](result, numbers, COUNT)
    assert (result == 2 * numbers).all()
