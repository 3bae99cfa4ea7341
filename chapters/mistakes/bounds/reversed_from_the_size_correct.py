"""The last element is size - 1."""

import numpy as np
from numba import cuda


@cuda.jit
def reverse(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[x.size - 1 - i]


def launch(rng):
    x = rng.standard_normal(50).astype(np.float32)
    return reverse, 1, 64, (x, np.zeros_like(x))


def expected(x, out):
    return x[::-1]
