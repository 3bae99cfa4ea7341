"""The barrier is called on a line of its own, before the condition."""

import numpy as np
from numba import cuda


@cuda.jit
def zero_if_all_small(x, out):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    small = cuda.syncthreads_and(1 if x[i] < 10 else 0)
    if t % 2 == 0 and small:
        out[i] = 0
    else:
        out[i] = x[i]


def launch(rng):
    x = rng.integers(1, 9, 128)
    x[100] = 50
    return zero_if_all_small, 2, 64, (x, np.zeros_like(x))


def expected(x, out):
    return np.where((np.arange(128) < 64) & (np.arange(128) % 2 == 0), 0, x)
