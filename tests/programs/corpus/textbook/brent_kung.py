"""Inclusive scan as a tree, up and down again, by half as many threads as there are numbers."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)

HALF = 64
SECTION = 2 * HALF


@cuda.jit
def scan(values, sums):
    section = cuda.shared.array(SECTION, float32)
    me = cuda.threadIdx.x
    section[me], section[me + HALF] = values[me], values[me + HALF]
    apart = 1
    while apart <= HALF:
        cuda.syncthreads()
        right = 2 * apart * (me + 1) - 1
        if right < SECTION:
            section[right] += section[right - apart]
        apart <<= 1
    apart = HALF // 2
    while apart:
        cuda.syncthreads()
        left = 2 * apart * (me + 1) - 1
        if left + apart < SECTION:
            section[left + apart] += section[left]
        apart >>= 1
    cuda.syncthreads()
    sums[me] = section[me]
    sums[me + HALF] = section[me + HALF]


def check():
    values = rng.integers(0, 9, SECTION).astype(np.float32)
    sums = np.zeros_like(values)
    scan[1, HALF](values, sums)
    assert (sums == np.cumsum(values)).all()
