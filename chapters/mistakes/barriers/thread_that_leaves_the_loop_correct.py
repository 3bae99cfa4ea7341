"""The threads vote, and leave together."""

import numpy as np
from numba import cuda

THREADS = 32


@cuda.jit
def halvings(x, out):
    t = cuda.threadIdx.x
    value, steps = x[cuda.grid(1)], 0
    while True:
        if value > 1:
            value //= 2
            steps += 1
        if not cuda.syncthreads_or(1 if value > 1 else 0):
            break
    out[cuda.blockIdx.x, t] = steps


def launch(rng):
    x = rng.integers(1, 500, 2 * THREADS)
    x[0] = 500
    return halvings, 2, THREADS, (x, np.zeros((2, THREADS), np.int64))


def expected(x, out):
    return np.array([int(v).bit_length() - 1 for v in x]).reshape(2, THREADS)
