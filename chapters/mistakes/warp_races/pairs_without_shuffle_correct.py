"""A shuffle swaps them in registers: no memory, no race."""

import numpy as np
from numba import cuda


@cuda.jit
def pair_sums(x, out):
    i = cuda.grid(1)
    other = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)
    out[i] = x[i] + other


def launch(rng):
    x = rng.integers(0, 999, 192).astype(np.int32)
    return pair_sums, 3, 64, (x, np.zeros_like(x))


def expected(x, out):
    return np.repeat(x.reshape(96, 2).sum(axis=1), 2)
