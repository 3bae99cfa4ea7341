"""Loops that stride over a matrix in two directions, and an atomic at a tuple."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def k(x, s):
    y0, x0 = cuda.grid(2)
    dy, dx = cuda.gridsize(2)
    for i in range(y0, x.shape[0], dy):
        for j in range(x0, x.shape[1], dx):
            cuda.atomic.add(s, (0, j % 2), x[i, j])


def check():
    x = rng.integers(0, 9, (40, 31))
    s = np.zeros((1, 2), x.dtype)
    k[(2, 2), (8, 8)](x, s)
    assert (s == [[x[:, ::2].sum(), x[:, 1::2].sum()]]).all()
