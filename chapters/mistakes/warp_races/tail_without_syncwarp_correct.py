"""A syncwarp after every step, reached by all lanes of the warp."""

import numpy as np
from numba import cuda

THREADS = 128


@cuda.jit
def block_sum(x, out):
    s = cuda.shared.array(THREADS, np.int64)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if t < 64:
        s[t] += s[t + 64]
    cuda.syncthreads()
    if t < 32:
        step = 32
        while step > 0:
            if t < step:
                s[t] += s[t + step]
            cuda.syncwarp()
            step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def launch(rng):
    return block_sum, 2, THREADS, (rng.integers(0, 99, 2 * THREADS), np.zeros(2, np.int64))


def expected(x, out):
    return x.reshape(2, THREADS).sum(axis=1)
