"""A negative index counts from the end, but this one goes back further than the array is long."""

import numpy as np
from numba import cuda


@cuda.jit
def rotate(x, lag, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i - lag]  # expect: OutOfBoundsError


def launch(rng):
    x = rng.integers(0, 999, 60)
    return rotate, 2, 32, (x, 65, np.zeros_like(x))
