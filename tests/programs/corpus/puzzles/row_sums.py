"""One block sums one row; the number of steps is a constant, and the distance a power of two."""

import numba
import numpy as np

from warpwise import cuda

WIDTH = 8


def problem(cuda):
    def kernel(result, table, columns: int):
        partial = cuda.shared.array(WIDTH, numba.float32)
        me, row = cuda.threadIdx.x, cuda.blockIdx.y
        if me < columns:
            partial[me] = table[row, me]
        else:
            partial[me] = 0
        cuda.syncthreads()
        for step in range(3):
            apart = 2**step
            if me % (apart * 2) == 0:
                partial[me] = partial[me] + partial[me + apart]
            cuda.syncthreads()
        if me == 0:
            result[row, 0] = partial[me]

    return kernel


def check():
    table, result = np.arange(30).reshape(5, 6), np.zeros((5, 1))
    cuda.jit(problem(cuda))[(1, 5), (WIDTH, 1)](result, table, 6)
    assert (result == table.sum(1, keepdims=True)).all()
