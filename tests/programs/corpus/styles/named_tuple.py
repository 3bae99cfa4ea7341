"""Parameters of a kernel in a named tuple."""

from collections import namedtuple

import numpy as np

from warpwise import cuda

Params = namedtuple("Params", ["a", "b", "n"])


@cuda.jit
def k(p, x):
    i = cuda.grid(1)
    if i < p.n:
        x[i] = p.a * i + p.b


def check():
    x = np.zeros(5)
    k[1, 32](Params(2.0, 1, 5), x)
    assert (x == 2 * np.arange(5) + 1).all()
