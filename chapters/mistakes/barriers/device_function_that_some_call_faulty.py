"""A device function with a barrier in it is called by the threads that have an element, and no
others."""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit(device=True)
def from_neighbour(s, t, value):
    s[t] = value
    cuda.syncthreads()  # expect: BarrierError
    return s[t ^ 1]


@cuda.jit
def swap_pairs(x, out):
    s = cuda.shared.array(THREADS, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < x.size:
        out[i] = from_neighbour(s, t, x[i])


def launch(rng):
    x = rng.integers(0, 99, 100).astype(np.int32)
    return swap_pairs, 2, THREADS, (x, np.zeros_like(x))
