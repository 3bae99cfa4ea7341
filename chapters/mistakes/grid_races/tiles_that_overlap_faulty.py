"""Blocks start one element too early, and the edges of their output tiles overlap."""

# scope: grid
import numpy as np
from numba import cuda

TILE = 32


@cuda.jit
def double(x, out):
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * (TILE - 1) + t
    if i < x.size:
        out[i] = 2 * x[i]  # expect: race


def launch(rng):
    x = rng.standard_normal(100).astype(np.float32)
    return double, 4, TILE, (x, np.zeros_like(x))
