"""What a literal makes of float32."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def k(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * 0.1 + 1


@cuda.jit
def k2(x, y):
    i = cuda.grid(1)
    y[i] = x[i] / 3 + x[i] ** 2


def check():
    x = rng.random(32, dtype=np.float32)
    y = np.zeros(32, np.float32)
    k[1, 32](x, y)
    assert (y == (x.astype(float) * 0.1 + 1).astype(np.float32)).all()
    k2[1, 32](x, y)
    assert np.allclose(y, x / 3 + x**2, rtol=1e-6)
