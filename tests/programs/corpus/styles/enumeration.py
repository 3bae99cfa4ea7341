"""An enumeration's member as an argument, compared with its names."""

import enum

import numpy as np

from warpwise import cuda


class Op(enum.IntEnum):
    ADD = 0
    MUL = 1


@cuda.jit
def k(op, a, o):
    i = cuda.grid(1)
    if i < o.size:
        if op == Op.ADD:
            o[i] = a[i] + 1
        elif op == Op.MUL:
            o[i] = a[i] * 3


def check():
    o = np.zeros(4)
    k[1, 4](Op.MUL, np.arange(4.0), o)
    assert (o == 3 * np.arange(4)).all()
