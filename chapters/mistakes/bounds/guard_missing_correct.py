"""A guard for the threads beyond the end."""

import numpy as np
from numba import cuda


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def launch(rng):
    x, y = rng.standard_normal(100).astype(np.float32), np.ones(100, np.float32)
    return saxpy, 2, 64, (np.float32(2), x, y)


def expected(a, x, y):
    return a * x + y
