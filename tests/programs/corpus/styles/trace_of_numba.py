"""Numba's own kernel with a device function, traced."""

import numpy as np
from numba import cuda as nc

from warpwise import trace


@nc.jit(device=True)
def helper(v):
    return v + nc.threadIdx.x


@nc.jit
def k(x, n):
    i = nc.grid(1)
    if i < n:
        x[i] = helper(x[i])


def check():
    x = np.zeros(40, np.float32)
    t = trace(k, 2, 32, x, 40)
    assert (x == np.arange(40) % 32).all() and not t.races
