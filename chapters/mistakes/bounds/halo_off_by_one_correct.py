"""The guard is for the last element that is read."""

import numpy as np
from numba import cuda


@cuda.jit
def differences(x, out):
    i = cuda.grid(1)
    if i + 1 < x.size:
        out[i] = x[i + 1] - x[i]


def launch(rng):
    x = rng.standard_normal(90)
    return differences, 3, 32, (x, np.zeros(x.size - 1))


def expected(x, out):
    return np.diff(x)
