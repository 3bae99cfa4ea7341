"""A sum by halves: in each step fewer threads add, and only those that add reach the barrier."""

import numpy as np
from numba import cuda

THREADS = 32


@cuda.jit
def block_sums(x, out):
    cache = cuda.shared.array(THREADS, np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cache[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    for step in (1, 2, 4, 8, 16):
        if t % (2 * step) == 0:
            cache[t] += cache[t + step]
            cuda.syncthreads()  # expect: BarrierError
    if t == 0:
        out[cuda.blockIdx.x] = cache[0]


def launch(rng):
    return block_sums, 2, THREADS, (rng.random(50), np.zeros(2))
