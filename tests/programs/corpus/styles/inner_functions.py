"""A function and a lambda within the kernel, with a default value."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(x, o):
    def sq(v):
        return v * v

    add = lambda a, b=1: a + b  # noqa: E731  a lambda with a name is what this is about
    i = cuda.grid(1)
    if i < x.size:
        o[i] = add(sq(x[i]))


def check():
    x = np.arange(10.0)
    o = np.zeros(10)
    k[1, 32](x, o)
    assert (o == x * x + 1).all()
