"""What lies beyond the data is filled with zeros."""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def block_sums(x, out):
    tile = cuda.shared.array(THREADS, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    if t == 0:
        total = np.float32(0)
        for k in range(THREADS):
            total += tile[k]
        out[cuda.blockIdx.x] = total


def launch(rng):
    return (
        block_sums,
        2,
        THREADS,
        (rng.integers(0, 99, 100).astype(np.float32), np.zeros(2, np.float32)),
    )


def expected(x, out):
    return np.array([x[:64].sum(), x[64:].sum()])
