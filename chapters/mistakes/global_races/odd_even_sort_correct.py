"""A barrier after every phase."""

import numpy as np
from numba import cuda


@cuda.jit
def odd_even_sort(x):
    t = cuda.threadIdx.x
    for phase in range(x.size):
        i = 2 * t + phase % 2
        if i + 1 < x.size:
            a, b = x[i], x[i + 1]
            if a > b:
                x[i], x[i + 1] = b, a
        cuda.syncthreads()


def launch(rng):
    x = np.arange(100)[::-1].astype(np.float32) + rng.integers(0, 9)
    return odd_even_sort, 1, 64, (x,)


def expected(x):
    return np.sort(x)
