"""A variable that begins as an integer and becomes a float."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(x, o):
    i = cuda.grid(1)
    acc = 0
    for j in range(5):
        acc += x[j] * 0.5
    acc2 = acc
    if i > 3:
        acc2 = 1
    o[i] = acc2


def check():
    o = np.zeros(8)
    k[1, 8](np.arange(5), o)
    assert (o == [5, 5, 5, 5, 1, 1, 1, 1]).all()
