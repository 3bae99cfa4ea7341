"""The grid has more threads than the arrays have elements, and nothing holds the last ones back."""

import numpy as np
from numba import cuda


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    y[i] = a * x[i] + y[i]  # expect: OutOfBoundsError


def launch(rng):
    x, y = rng.standard_normal(100).astype(np.float32), np.ones(100, np.float32)
    return saxpy, 2, 64, (np.float32(2), x, y)
