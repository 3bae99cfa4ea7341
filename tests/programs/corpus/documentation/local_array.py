"""Rows are reversed through an array of each thread's own."""

import numba
import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def rev(x, n):
    tmp = cuda.local.array(8, dtype=numba.float64)
    i = cuda.grid(1)
    if i < x.shape[0]:
        for k in range(8):
            tmp[k] = x[i, k]
        for k in range(8):
            x[i, k] = tmp[-1 - k]


def check():
    x = rng.random((40, 8))
    r = x[:, ::-1].copy()
    rev[2, 32](x, 8)
    assert (x == r).all()
