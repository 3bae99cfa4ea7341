"""An atomic operation sets it; a barrier that votes, syncthreads_or, would need no flag at all."""

import numpy as np
from numba import cuda

THREADS = 128


@cuda.jit
def has_negative(x, out):
    flag = cuda.shared.array(1, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if x[i] < 0:
        cuda.atomic.max(flag, 0, 1)
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = flag[0]


def launch(rng):
    x = rng.integers(0, 9, 3 * THREADS)
    x[THREADS : 2 * THREADS : 5] = -1
    return has_negative, 3, THREADS, (x, np.zeros(3, np.int32))


def expected(x, out):
    return (x.reshape(3, THREADS) < 0).any(axis=1)
