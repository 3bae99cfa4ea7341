"""A column and a row are added to a table; two tests are joined with &, indices are chained."""

import numpy as np

from warpwise import cuda


def problem(cuda):
    def kernel(table, column, row, side):
        i = cuda.threadIdx.x
        j = cuda.threadIdx.y
        if (i < side) & (j < side):
            table[i][j] = column[i, 0] + row[0, j]

    return kernel


def check():
    column, row = np.arange(3).reshape(3, 1), np.arange(0, 30, 10).reshape(1, 3)
    table = np.zeros((3, 3))
    cuda.jit(problem(cuda))[(1, 1), (4, 4)](table, column, row, 3)
    assert (table == column + row).all()
