"""A thread leaves the loop when its own row is done, while the others still meet at the barrier in
it."""

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
        if value <= 1:
            break
        cuda.syncthreads()  # expect: BarrierError
    out[cuda.blockIdx.x, t] = steps


def launch(rng):
    x = rng.integers(1, 500, 2 * THREADS)
    x[0] = 500
    return halvings, 2, THREADS, (x, np.zeros((2, THREADS), np.int64))
