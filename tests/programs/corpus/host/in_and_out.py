"""Arguments that are only copied one way."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + 1


def check():
    x = np.zeros(5)
    y = np.ones(5)
    k[1, 32](cuda.In(x), cuda.Out(y))
    k[1, 32](cuda.In(x), cuda.InOut(y))
    assert (y == 1).all()
