"""A thousand blocks and more."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def check():
    n = 300_000
    x = rng.random(n, dtype=np.float32)
    y = np.zeros(n, np.float32)
    saxpy[(n + 255) // 256, 256](np.float32(2), x, y)
    assert (y == 2 * x).all()
