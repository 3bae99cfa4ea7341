"""Inclusive scan with two buffers, whose numbers are swapped."""

import numpy as np
from numba import float32

from warpwise import cuda

SECTION = 128


@cuda.jit
def scan(X, Y):
    buf = cuda.shared.array((2, SECTION), float32)
    t = cuda.threadIdx.x
    pin, pout = 0, 1
    buf[pin, t] = X[t]
    cuda.syncthreads()
    stride = 1
    while stride < SECTION:
        if t >= stride:
            buf[pout, t] = buf[pin, t] + buf[pin, t - stride]
        else:
            buf[pout, t] = buf[pin, t]
        cuda.syncthreads()
        pin, pout = pout, pin
        stride <<= 1
    Y[t] = buf[pin, t]


def check():
    x = np.ones(128, np.float32)
    y = np.zeros_like(x)
    scan[1, SECTION](x, y)
    assert (y == np.arange(1, 129)).all()
