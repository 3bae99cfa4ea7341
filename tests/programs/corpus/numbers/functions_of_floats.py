"""Math functions, min, max, abs and pow, and NumPy's casts and constants in a kernel."""

import math

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def k(x, o):
    i = cuda.grid(1)
    if i < x.size:
        o[i] = (
            math.exp(-abs(x[i]))
            + max(x[i], 0) * np.pi
            + np.float32(math.floor(x[i]))
            + min(x[i], 1.0, 2)
            + math.fabs(x[i])
            + pow(x[i], 2)
        )


def check():
    x = rng.normal(size=30)
    o = np.zeros(30)
    k[1, 32](x, o)
    want = np.exp(-abs(x)) + np.maximum(x, 0) * np.pi + np.floor(x)
    assert np.allclose(o, want + np.minimum(x, 1) + abs(x) + x**2)
