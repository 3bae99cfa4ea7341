"""A tile is used again for the results while other threads have yet to read what was in it."""

# scope: block
import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def fold_and_scale(x, out):
    tile = cuda.shared.array(THREADS, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i]
    cuda.syncthreads()
    total = x[i] + tile[THREADS - 1 - t]  # expect: race
    tile[t] = total * t  # expect: race
    cuda.syncthreads()
    out[i] = tile[(t + 1) % THREADS]


def launch(rng):
    x = rng.integers(0, 99, 3 * THREADS)
    return fold_and_scale, 3, THREADS, (x, np.zeros_like(x))
