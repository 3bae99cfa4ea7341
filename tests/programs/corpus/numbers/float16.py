"""Arithmetic of float16, by operators and by cuda.fp16."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def h(x, y, o):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = cuda.fp16.hfma(x[i], y[i], o[i]) + np.float16(1)


@cuda.jit
def haxpy(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def hdot(x, y, o):
    s = float32(0)
    for i in range(cuda.threadIdx.x, x.size, 32):
        s += float32(x[i]) * float32(y[i])
    cuda.atomic.add(o, 0, s)


def check():
    x = rng.integers(0, 8, 50).astype(np.float16)
    y = rng.integers(0, 8, 50).astype(np.float16)
    o = np.ones(50, np.float16)
    h[2, 32](x, y, o)
    assert (o == x * y + 2).all()
    z = y.copy()
    haxpy[2, 32](np.float16(2), x, z)
    assert (z == 2 * x + y).all()
    r = np.zeros(1, np.float32)
    hdot[1, 32](x, y, r)
    assert r[0] == (x.astype(int) * y.astype(int)).sum()
