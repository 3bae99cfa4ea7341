"""A prefix sum in place: a thread reads its neighbour's element while the neighbour overwrites
it."""

# scope: warp, block
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
        if t >= step:
            s[t] += s[t - step]  # expect: race
        cuda.syncthreads()
        step *= 2
    out[t] = s[t]


def launch(rng):
    return scan, 1, THREADS, (rng.integers(0, 99, THREADS), np.zeros(THREADS, np.int64))
