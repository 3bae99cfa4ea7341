"""Layer norm of a row by one warp, then GELU, in the types that the literals make."""

import math

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def ln(x, g, b, y, eps):
    row = cuda.blockIdx.x
    s = float32(0)
    q = float32(0)
    for j in range(cuda.threadIdx.x, x.shape[1], cuda.blockDim.x):
        s += x[row, j]
        q += x[row, j] ** 2
    for o in (16, 8, 4, 2, 1):
        s += cuda.shfl_xor_sync(0xFFFFFFFF, s, o)
        q += cuda.shfl_xor_sync(0xFFFFFFFF, q, o)
    mu = s / x.shape[1]
    rstd = cuda.libdevice.rsqrtf(float32(q / x.shape[1] - mu * mu + eps))
    for j in range(cuda.threadIdx.x, x.shape[1], cuda.blockDim.x):
        v = (x[row, j] - mu) * rstd * g[j] + b[j]
        y[row, j] = 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))


def check():
    x = rng.normal(size=(4, 100)).astype(np.float32)
    g = rng.random(100, dtype=np.float32)
    b = rng.random(100, dtype=np.float32)
    y = np.zeros_like(x)
    ln[4, 32](x, g, b, y, 1e-5)
    v = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g + b
    t = np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))
    assert np.allclose(y, 0.5 * v * (1 + t), atol=1e-5)
