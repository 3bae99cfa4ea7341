"""All threads make as many trips, and a guard stands inside."""

import numpy as np
from numba import cuda

THREADS = 32


@cuda.jit
def block_total(x, out):
    s = cuda.shared.array(THREADS, np.int64)
    t = cuda.threadIdx.x
    total = 0
    for start in range(0, x.size, THREADS):
        s[t] = x[start + t] if start + t < x.size else 0
        cuda.syncthreads()
        total += s[THREADS - 1 - t]
        cuda.syncthreads()
    cuda.atomic.add(out, 0, total)


def launch(rng):
    return block_total, 1, THREADS, (rng.integers(0, 99, 75), np.zeros(1, np.int64))


def expected(x, out):
    return np.array([x.sum()])
