"""Inclusive scan of a block's section, the distance doubling, with a barrier before each access."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)

SECTION = 64


@cuda.jit
def scan(values, sums, count):
    section = cuda.shared.array(SECTION, float32)
    i, me = cuda.grid(1), cuda.threadIdx.x
    section[me] = values[i] if i < count else 0.0
    apart = 1
    while apart < SECTION:
        cuda.syncthreads()
        if me >= apart:
            both = section[me] + section[me - apart]
        cuda.syncthreads()
        if me >= apart:
            section[me] = both
        apart *= 2
    if i < count:
        sums[i] = section[me]


def check():
    values = rng.integers(0, 9, 100).astype(np.float32)
    sums = np.zeros_like(values)
    scan[2, SECTION](values, sums, 100)
    assert (sums == np.r_[np.cumsum(values[:64]), np.cumsum(values[64:])]).all()
