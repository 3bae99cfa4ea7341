"""Read into a variable, wait, write, wait: a scan in place needs both barriers."""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def scan(x, out):
    s = cuda.shared.array(THREADS, np.int64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        left = s[t - step] if t >= step else 0
        cuda.syncthreads()
        s[t] += left
        cuda.syncthreads()
        step *= 2
    out[t] = s[t]


def launch(rng):
    return scan, 1, THREADS, (rng.integers(0, 99, THREADS), np.zeros(THREADS, np.int64))


def expected(x, out):
    return np.cumsum(x)
