"""Atomics count into shared bins that nobody set to zero."""

import numpy as np
from numba import cuda

BINS = 16


@cuda.jit
def histogram(x, out):
    bins = cuda.shared.array(BINS, np.int32)
    t = cuda.threadIdx.x
    cuda.atomic.add(bins, x[cuda.grid(1)], 1)  # expect: UnwrittenReadError
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(out, t, bins[t])


def launch(rng):
    return histogram, 3, 64, (rng.integers(0, BINS, 192, np.int32), np.zeros(BINS, np.int32))
