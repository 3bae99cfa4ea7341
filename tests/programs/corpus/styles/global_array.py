"""A table of the module is read as a constant."""

import numpy as np

from warpwise import cuda

TB = np.array([3.0, 1.0, 4.0, 1.0, 5.0])


@cuda.jit
def kern(idx, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = TB[idx[i]]


def check():
    ix = np.array([4, 2, 0])
    y = np.zeros(3)
    kern[1, 32](ix, y)
    assert (y == TB[ix]).all()
