"""The last block loads a part of its tile and adds up all of it."""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def block_sums(x, out):
    tile = cuda.shared.array(THREADS, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < x.size:
        tile[t] = x[i]
    cuda.syncthreads()
    if t == 0:
        total = np.float32(0)
        for k in range(THREADS):
            total += tile[k]  # expect: UnwrittenReadError
        out[cuda.blockIdx.x] = total


def launch(rng):
    return (
        block_sums,
        2,
        THREADS,
        (rng.integers(0, 99, 100).astype(np.float32), np.zeros(2, np.float32)),
    )
