"""A barrier after every step of the network."""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def bitonic_sort(x):
    s = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    size = 2
    while size <= THREADS:
        step = size // 2
        while step > 0:
            other = t ^ step
            if t < other:
                a, b = s[t], s[other]
                if (a > b) == ((t & size) == 0):
                    s[t], s[other] = b, a
            cuda.syncthreads()
            step //= 2
        size *= 2
    x[t] = s[t]


def launch(rng):
    return bitonic_sort, 1, THREADS, (rng.permutation(THREADS).astype(np.float32),)


def expected(x):
    return np.sort(x)
