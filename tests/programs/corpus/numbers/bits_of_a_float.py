"""The exponent of a float, from its bits."""

import numpy as np

from warpwise import cuda


@cuda.jit
def fexp(x, o):
    i = cuda.grid(1)
    if i < x.size:
        bits = cuda.libdevice.float_as_int(x[i])
        o[i] = ((bits >> 23) & 0xFF) - 127


def check():
    x = np.array([1, 2, 3, 0.25, 1000], np.float32)
    o = np.zeros(5, np.int32)
    fexp[1, 32](x, o)
    assert (o == [0, 1, 1, -2, 9]).all()
