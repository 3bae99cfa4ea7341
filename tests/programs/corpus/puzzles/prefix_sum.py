"""The sum of a block of numbers, pairs first, the distance between partners doubling."""

import numba
import numpy as np

from warpwise import cuda

WIDTH = 8


def problem(cuda):
    def kernel(result, numbers, count: int) -> None:
        partial = cuda.shared.array(WIDTH, numba.float32)
        i, me = cuda.grid(1), cuda.threadIdx.x
        partial[me] = numbers[i] if i < count else 0
        cuda.syncthreads()
        apart = 1
        while apart < WIDTH:
            if me % (2 * apart) == 0:
                partial[me] += partial[me + apart]
            cuda.syncthreads()
            apart *= 2
        if me == 0:
            result[cuda.blockIdx.x] = partial[0]

    return kernel


def check():
    numbers, result = np.arange(15), np.zeros(2)
    cuda.jit(problem(cuda))[(2, 1), (WIDTH, 1)](result, numbers, 15)
    assert (result == [numbers[:8].sum(), numbers[8:].sum()]).all()
