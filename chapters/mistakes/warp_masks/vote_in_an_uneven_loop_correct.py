"""The vote decides whether the warp goes on."""

import numpy as np
from numba import cuda


@cuda.jit
def longest(x, out):
    i = cuda.grid(1)
    value, trips = x[i], 0
    while cuda.any_sync(0xFFFFFFFF, value > 0):
        value //= 3
        trips += 1
    out[i] = trips


def launch(rng):
    x = rng.integers(0, 3, 64) * 81 + 1
    x[[5, 50]] = 900, 80
    return longest, 1, 64, (x, np.zeros(64, np.int64))


def expected(x, out):
    trips = np.array([len(np.base_repr(v, 3)) for v in x]).reshape(2, 32)
    return np.repeat(trips.max(axis=1), 32)
