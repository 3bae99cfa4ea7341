"""Threads beyond the end return, and the rest of their warp shuffles with a mask that still names
them."""

import numpy as np
from numba import cuda


@cuda.jit
def total(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    value = x[i]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)  # expect: WarpMaskError
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


def launch(rng):
    return total, 2, 64, (rng.integers(0, 99, 100), np.zeros(1, np.int64))
