"""Coefficients are counted from one, and the local array has no place for the last."""

import numpy as np
from numba import cuda

DEGREE = 3


@cuda.jit
def powers(x, out):
    power = cuda.local.array(DEGREE, np.int64)
    i = cuda.grid(1)
    power[0] = 1
    for k in range(1, DEGREE + 1):
        power[k] = power[k - 1] * x[i]  # expect: OutOfBoundsError
    total = 0
    for k in range(DEGREE):
        total += power[k]
    out[i] = total


def launch(rng):
    return powers, 1, 40, (rng.integers(-9, 9, 40), np.zeros(40, np.int64))
