"""All threads of the block call it; the guard is for what they pass."""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit(device=True)
def from_neighbour(s, t, value):
    s[t] = value
    cuda.syncthreads()
    return s[t ^ 1]


@cuda.jit
def swap_pairs(x, out):
    s = cuda.shared.array(THREADS, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    other = from_neighbour(s, t, x[i] if i < x.size else 0)
    if i < x.size:
        out[i] = other


def launch(rng):
    x = rng.integers(0, 99, 100).astype(np.int32)
    return swap_pairs, 2, THREADS, (x, np.zeros_like(x))


def expected(x, out):
    return x.reshape(50, 2)[:, ::-1].ravel()
