"""A convolution whose weights are in constant memory."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)

C = np.array([1.0, 2.0, 3.0, 2.0, 1.0])


@cuda.jit
def conv(x, y):
    c = cuda.const.array_like(C)
    i = cuda.grid(1)
    if 2 <= i < x.size - 2:
        s = 0.0
        for k in range(-2, 3):
            s += x[i + k] * c[k + 2]
        y[i] = s


def check():
    x = rng.random(100)
    y = np.zeros(100)
    conv[4, 32](x, y)
    assert np.allclose(y[2:-2], np.convolve(x, C, "valid"))
