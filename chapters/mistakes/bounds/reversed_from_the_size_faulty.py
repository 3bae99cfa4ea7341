"""Counting from the end begins at size - i, which for i = 0 is one past the last."""

import numpy as np
from numba import cuda


@cuda.jit
def reverse(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[x.size - i]  # expect: OutOfBoundsError


def launch(rng):
    x = rng.standard_normal(50).astype(np.float32)
    return reverse, 1, 64, (x, np.zeros_like(x))
