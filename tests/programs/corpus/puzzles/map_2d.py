"""A square of numbers under a larger square of threads, in several blocks, with an early return."""

import numpy as np

from warpwise import cuda


def problem(cuda):
    def kernel(result, numbers, side) -> None:
        row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        column = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
        if row >= side or column >= side:
            return
        result[row, column] = 1 - numbers[row, column]

    return kernel


def check():
    numbers = np.arange(49).reshape(7, 7)
    result = np.zeros_like(numbers)
    cuda.jit(problem(cuda))[(2, 2), (4, 4)](result, numbers, 7)
    assert (result == 1 - numbers).all()
