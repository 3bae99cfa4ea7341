"""A ballot on the branch's condition names those that do."""

import numpy as np
from numba import cuda


@cuda.jit
def leader_of_the_large(x, out):
    i = cuda.grid(1)
    large = x[i] > 20
    mask = cuda.ballot_sync(0xFFFFFFFF, large)
    if large:
        leader = 31 - cuda.clz(mask)
        out[i] = cuda.shfl_sync(mask, i, leader)


def launch(rng):
    x = rng.integers(0, 40, 96)
    x[::32] = 40
    x[31::32] = 0
    return leader_of_the_large, 3, 32, (x, np.full(96, -1))


def expected(x, out):
    large = (x > 20).reshape(3, 32)
    leaders = 32 * np.arange(3) + [np.flatnonzero(row)[-1] for row in large]
    return np.where(large, leaders[:, None], -1).ravel()
