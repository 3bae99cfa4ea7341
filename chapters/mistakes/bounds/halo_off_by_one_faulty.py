"""The guard is for the thread's own element, but the kernel reads the next one as well."""

import numpy as np
from numba import cuda


@cuda.jit
def differences(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i + 1] - x[i]  # expect: OutOfBoundsError


def launch(rng):
    x = rng.standard_normal(90)
    return differences, 3, 32, (x, np.zeros(x.size - 1))
