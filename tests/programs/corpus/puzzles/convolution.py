"""Weights slide over a row of numbers; a block keeps its numbers and the next in shared memory."""

import numba
import numpy as np

from warpwise import cuda

MOST = 4
WIDTH = 8
WITH_TAIL = WIDTH + MOST


def problem(cuda):
    def kernel(result, numbers, weights, count, taps):
        i = cuda.grid(1)
        me = cuda.threadIdx.x
        near = cuda.shared.array(WITH_TAIL, numba.float32)
        factor = cuda.shared.array(MOST, numba.float32)
        near[me] = numbers[i] if i < count else 0.0
        if me < MOST:
            beyond = i + WIDTH
            near[me + WIDTH] = numbers[beyond] if beyond < count else 0.0
            factor[me] = weights[me] if me < taps else 0.0
        cuda.syncthreads()
        if i < count:
            total = 0.0
            for k in range(MOST):
                total += factor[k] * near[me + k]
            result[i] = total

    return kernel


def check():
    for count, taps in ((6, 3), (15, 4)):
        numbers, weights, result = np.arange(count), np.arange(taps) + 1, np.zeros(count)
        blocks = -(-count // WIDTH)
        kernel = cuda.jit(problem(cuda))
        kernel[(blocks, 1), (WIDTH, 1)](result, numbers, weights, count, taps)
        assert (result == np.correlate(np.r_[numbers, np.zeros(taps - 1)], weights)).all()
