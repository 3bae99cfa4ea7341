"""A variable gets its value in a branch that some threads do not take."""

import numpy as np
from numba import cuda


@cuda.jit
def slope(x, out):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > 0:
            scale = np.float32(2)
        out[i] = x[i] * scale  # expect: UnwrittenReadError


def launch(rng):
    x = rng.integers(1, 9, 100).astype(np.float32)
    x[rng.integers(0, 100, 10)] = -1
    return slope, 2, 64, (x, np.zeros_like(x))
