"""The guard sends home the threads that are outside along both axes. Those outside along one
axis go on."""

import numpy as np
from numba import cuda

T = 8


@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((T, T), np.int64)
    i, j = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if i >= a.shape[0] and j >= a.shape[1]:
        return
    tile[tx, ty] = a[i, j]  # expect: OutOfBoundsError
    cuda.syncthreads()
    out[j, i] = tile[tx, ty]


def launch(rng):
    a = rng.integers(0, 99, (12, 10))
    return transpose, (2, 2), (T, T), (a, np.zeros((10, 12), np.int64))
