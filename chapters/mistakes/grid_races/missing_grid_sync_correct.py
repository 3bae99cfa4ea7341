"""A cooperative grid synchronises between the phases."""

import numpy as np
from numba import cuda


@cuda.jit
def reverse(x, scratch, out):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    scratch[i] = x[i] + 1
    grid.sync()
    out[i] = scratch[x.size - 1 - i]


def launch(rng):
    x = rng.integers(0, 99, 128)
    return reverse, 4, 32, (x, np.zeros_like(x), np.zeros_like(x))


def expected(x, scratch, out):
    return x[::-1] + 1
