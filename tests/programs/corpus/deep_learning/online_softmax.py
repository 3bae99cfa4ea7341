"""Softmax of a row by one warp: each lane has its own maximum and sum, which a butterfly joins."""

import math

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def online(x, y):
    row = cuda.blockIdx.x
    lane = cuda.threadIdx.x
    m = float32(-math.inf)
    d = float32(0)
    for j in range(lane, x.shape[1], 32):
        v = x[row, j]
        mn = max(m, v)
        d = d * math.exp(m - mn) + math.exp(v - mn)
        m = mn
    for o in (16, 8, 4, 2, 1):
        m2 = cuda.shfl_xor_sync(0xFFFFFFFF, m, o)
        d2 = cuda.shfl_xor_sync(0xFFFFFFFF, d, o)
        mn = max(m, m2)
        d = d * math.exp(m - mn) + d2 * math.exp(m2 - mn)
        m = mn
    for j in range(lane, x.shape[1], 32):
        y[row, j] = math.exp(x[row, j] - m) / d


def check():
    x = rng.normal(size=(6, 150)).astype(np.float32)
    y = np.zeros_like(x)
    online[6, 32](x, y)
    e = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(y, e / e.sum(1, keepdims=True), rtol=1e-4)
