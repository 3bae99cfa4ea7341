"""A tuple of arrays as an argument, unpacked and looped over."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(arrs, o):
    i = cuda.grid(1)
    if i < o.size:
        a, b = arrs
        o[i] = a[i] + b[i]
        for z in arrs:
            o[i] += z[i]


def check():
    x = np.arange(5.0)
    o = np.zeros(5)
    k[1, 32]((x, x), o)
    assert (o == 4 * x).all()
