"""A mask that was taken before the branch names lanes that do not enter it."""

import numpy as np
from numba import cuda


@cuda.jit
def leader_of_the_large(x, out):
    i = cuda.grid(1)
    large = x[i] > 20
    mask = cuda.activemask()
    if large:
        leader = 31 - cuda.clz(mask)
        out[i] = cuda.shfl_sync(mask, i, leader)  # expect: WarpMaskError


def launch(rng):
    x = rng.integers(0, 40, 96)
    x[::32] = 40
    x[31::32] = 0
    return leader_of_the_large, 3, 32, (x, np.full(96, -1))
