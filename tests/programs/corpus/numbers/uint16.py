"""Sixteen bits are widened, and cut off again where they are stored."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(x, o):
    i = cuda.grid(1)
    if i < x.size:
        o[i] = (x[i] * 257) & 0xFFFF


def check():
    x = np.arange(40, dtype=np.uint16) * 100
    o = np.zeros(40, np.uint16)
    k[2, 32](x, o)
    assert (o == (x.astype(int) * 257 & 0xFFFF)).all()
