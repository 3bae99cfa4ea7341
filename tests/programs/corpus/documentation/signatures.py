"""Signatures as text, list, type and tuple, with options, and of a device function."""

import numba
import numpy as np

from warpwise import cuda


@cuda.jit("void(float32[:], float32)")
def scale1(x, a):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] *= a


@cuda.jit(["void(float32[:], float32)", "void(float64[:], float64)"])
def scale2(x, a):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] *= a


@cuda.jit(numba.void(numba.int64[:], numba.int64))
def addk(x, a):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] += a


@cuda.jit((numba.float32[::1],), fastmath=True, opt=True, lineinfo=True)
def sq(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] = x[i] ** 2


@cuda.jit("float32(float32, float32)", device=True, inline=True)
def dev(a, b):
    return a + b


@cuda.jit("(float32[:],)", max_registers=32)
def usedev(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] = dev(x[i], 1)


def check():
    x = np.arange(10, dtype=np.float32)
    scale1[1, 32](x, 2)
    assert (x == np.arange(10) * 2).all()
    scale2[1, 32](x, 2.0)
    assert (x == np.arange(10) * 4).all()
    y = np.arange(10.0)
    scale2[1, 32](y, 3)
    assert (y == np.arange(10) * 3).all()
    z = np.arange(10)
    addk[1, 32](z, 5)
    assert (z == np.arange(10) + 5).all()
    x = np.arange(10, dtype=np.float32)
    sq[1, 32](x)
    assert (x == np.arange(10) ** 2).all()
    usedev[1, 32](x)
    assert (x == np.arange(10) ** 2 + 1).all()
