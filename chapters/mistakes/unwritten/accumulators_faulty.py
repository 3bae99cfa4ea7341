"""The accumulators of a thread are added to before they are set to zero."""

import numpy as np
from numba import cuda

BINS = 4


@cuda.jit
def count(x, out):
    bins = cuda.local.array(BINS, np.int32)
    i = cuda.grid(1)
    for j in range(x.shape[1]):
        bins[x[i, j]] += 1  # expect: UnwrittenReadError
    for k in range(BINS):
        out[i, k] = bins[k]


def launch(rng):
    return count, 2, 32, (rng.integers(0, BINS, (64, 10), np.int32), np.zeros((64, BINS), np.int32))
