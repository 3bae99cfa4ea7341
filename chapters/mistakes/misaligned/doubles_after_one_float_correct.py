"""The view begins at an even element."""

import numpy as np
from numba import cuda


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


def launch(rng):
    memory = rng.standard_normal(68).astype(np.float32)
    x = memory[2:].view(np.float64)
    return scale, 2, 32, (x, np.zeros(x.size))


def expected(x, out):
    return 2 * x
