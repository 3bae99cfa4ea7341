"""A device function that returns two numbers."""

import math

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit(device=True)
def polar(x, y):
    return math.sqrt(x * x + y * y), math.atan2(y, x)


@cuda.jit
def k(p, o):
    i = cuda.grid(1)
    if i < len(p):
        r, th = polar(p[i, 0], p[i, 1])
        o[i] = (r * math.cos(th)) + th
        q = polar(1.0, 0.0)
        o[i] += q[0]


def check():
    p = rng.random((10, 2))
    o = np.zeros(10)
    k[1, 32](p, o)
    assert np.allclose(o, p[:, 0] + np.arctan2(p[:, 1], p[:, 0]) + 1)
