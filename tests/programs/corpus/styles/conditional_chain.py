"""Conditional expressions in one another."""

import numpy as np

from warpwise import cuda


@cuda.jit
def fizz(o):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = 15 if i % 15 == 0 else 5 if i % 5 == 0 else 3 if i % 3 == 0 else i


def check():
    o = np.zeros(40, int)
    fizz[2, 32](o)
    want = [15 if i % 15 == 0 else 5 if i % 5 == 0 else 3 if i % 3 == 0 else i for i in range(40)]
    assert (o == want).all()
