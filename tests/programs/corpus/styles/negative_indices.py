"""Indices from the end."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[-1 - i] = x[i] + x[-1]
        if i == 0:
            y[-1] += x[-x.shape[0]]


def check():
    x = np.arange(10.0) + 1
    y = np.zeros(10)
    k[1, 32](x, y)
    r = (x + 10)[::-1].copy()
    r[-1] += 1
    assert (y == r).all()
