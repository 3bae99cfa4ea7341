"""An atomic addition for each value."""

import numpy as np
from numba import cuda

BINS = 8


@cuda.jit
def histogram(x, out):
    bins = cuda.shared.array(BINS, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < BINS:
        bins[t] = 0
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)
    cuda.syncthreads()
    if t < BINS:
        out[cuda.blockIdx.x, t] = bins[t]


def launch(rng):
    return histogram, 2, 128, (rng.integers(0, BINS, 250, np.int32), np.zeros((2, BINS), np.int32))


def expected(x, out):
    return np.array([np.bincount(x[:128], minlength=BINS), np.bincount(x[128:], minlength=BINS)])
