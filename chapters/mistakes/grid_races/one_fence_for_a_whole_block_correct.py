"""A barrier before it: the fence then covers what all threads of the block stored."""

import numpy as np
from numba import cuda


@cuda.jit
def column_sums(x, parts, done, out):
    place = cuda.shared.array(1, np.int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    parts[b, t] = x[b, 0, t] + x[b, 1, t]
    cuda.syncthreads()
    if t == 0:
        cuda.threadfence()
        place[0] = cuda.atomic.add(done, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if place[0] == cuda.gridDim.x - 1:
        total = 0
        for k in range(cuda.gridDim.x):
            total += parts[k, t]
        out[t] = total


def launch(rng):
    x = rng.integers(0, 99, (3, 2, 64))
    return (
        column_sums,
        3,
        64,
        (x, np.zeros((3, 64), np.int64), np.zeros(1, np.int32), np.zeros(64, np.int64)),
    )


def expected(x, parts, done, out):
    return x.sum(axis=(0, 1))
