"""Threads of a block count into shared bins with +=, and lose counts of one another."""

# scope: warp, block
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
        bins[x[i]] += 1  # expect: race
    cuda.syncthreads()
    if t < BINS:
        out[cuda.blockIdx.x, t] = bins[t]


def launch(rng):
    return histogram, 2, 128, (rng.integers(0, BINS, 250, np.int32), np.zeros((2, BINS), np.int32))
