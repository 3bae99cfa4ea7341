"""A thread takes four elements in a row, and the guard looks at the first of them only."""

import numpy as np
from numba import cuda

EACH = 4


@cuda.jit
def square(x, out):
    start = cuda.grid(1) * EACH
    if start < x.size:
        for i in range(start, start + EACH):
            out[i] = x[i] * x[i]  # expect: OutOfBoundsError


def launch(rng):
    x = rng.integers(0, 99, 250)
    return square, 2, 64, (x, np.zeros_like(x))
