"""The result goes to an array of its own."""

import numpy as np
from numba import cuda

THREADS = 64
NEAR = THREADS + 1


@cuda.jit
def add_left(x, out):
    near = cuda.shared.array(NEAR, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        near[0] = x[i - 1] if i > 0 else 0
    near[t + 1] = x[i]
    cuda.syncthreads()
    out[i] = near[t] + near[t + 1]


def launch(rng):
    x = rng.integers(0, 99, 4 * THREADS)
    return add_left, 4, THREADS, (x, np.zeros_like(x))


def expected(x, out):
    return x + np.concatenate([[0], x[:-1]])
