"""Lanes leave the loop one by one, and the vote in it waits for all of them."""

import numpy as np
from numba import cuda


@cuda.jit
def longest(x, out):
    i = cuda.grid(1)
    value, trips = x[i], 0
    while value > 0:
        value //= 3
        if cuda.any_sync(0xFFFFFFFF, value > 0):  # expect: WarpMaskError
            trips += 1
    out[i] = trips


def launch(rng):
    x = rng.integers(0, 3, 64) * 81 + 1
    x[[5, 50]] = 900, 80
    return longest, 1, 64, (x, np.zeros(64, np.int64))
