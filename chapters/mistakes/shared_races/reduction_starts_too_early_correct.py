"""A barrier stands at the head of the loop, so that it also follows the first store."""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def block_max(x, out):
    part = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    step = THREADS // 2
    while step >= 32:
        cuda.syncthreads()
        if t < step:
            part[t] = max(part[t], part[t + step])
        step //= 2
    cuda.syncthreads()
    if t == 0:
        best = part[0]
        for k in range(1, 32):
            best = max(best, part[k])
        out[cuda.blockIdx.x] = best


def launch(rng):
    return (
        block_max,
        4,
        THREADS,
        (rng.standard_normal(4 * THREADS).astype(np.float32), np.zeros(4, np.float32)),
    )


def expected(x, out):
    return x.reshape(4, THREADS).max(axis=1)
