"""They stay, and bring a zero."""

import numpy as np
from numba import cuda


@cuda.jit
def total(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else 0
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


def launch(rng):
    return total, 2, 64, (rng.integers(0, 99, 100), np.zeros(1, np.int64))


def expected(x, out):
    return np.array([x.sum()])
