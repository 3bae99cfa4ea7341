"""A second barrier at the end of the trip, after the pivot was used."""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def alternating(x, out):
    pivot = cuda.shared.array(1, np.int64)
    t = cuda.threadIdx.x
    value = x[t]
    for k in range(0, THREADS, 8):
        if t == k:
            pivot[0] = value
        cuda.syncthreads()
        value -= pivot[0] // 2
        cuda.syncthreads()
    out[t] = value


def launch(rng):
    return alternating, 1, THREADS, (rng.integers(0, 999, THREADS), np.zeros(THREADS, np.int64))


def expected(x, out):
    for k in range(0, THREADS, 8):
        x = x - x[k] // 2
    return x
