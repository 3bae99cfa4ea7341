"""Numbers pass through shared memory; the barrier stands under a condition uniform in a block."""

import numba
import numpy as np

from warpwise import cuda

WIDTH = 4


def problem(cuda):
    def kernel(result, numbers, count):
        kept = cuda.shared.array(WIDTH, numba.float32)
        i = cuda.grid(1)
        if i < count:
            kept[cuda.threadIdx.x] = numbers[i]
            cuda.syncthreads()
            result[i] = kept[WIDTH - 1 - cuda.threadIdx.x] + 10

    return kernel


def check():
    numbers, result = np.arange(8.0), np.zeros(8)
    cuda.jit(problem(cuda))[(2, 1), (WIDTH, 1)](result, numbers, 8)
    assert (result == numbers.reshape(2, 4)[:, ::-1].ravel() + 10).all()
