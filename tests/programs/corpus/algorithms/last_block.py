"""The block that finishes last, which an atomic counter tells it, adds the partial sums."""

import numba
import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)

TPB = 64


@cuda.jit
def total(x, partial, count, out):
    sh = cuda.shared.array(TPB, float32)
    last = cuda.shared.array(1, numba.boolean)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    sh[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    s = TPB // 2
    while s:
        if t < s:
            sh[t] += sh[t + s]
        cuda.syncthreads()
        s >>= 1
    if t == 0:
        partial[cuda.blockIdx.x] = sh[0]
        cuda.threadfence()
        ticket = cuda.atomic.inc(count, 0, cuda.gridDim.x - 1)
        last[0] = ticket == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        v = float32(0)
        for b in range(t, cuda.gridDim.x, TPB):
            v += partial[b]
        sh[t] = v
        cuda.syncthreads()
        s = TPB // 2
        while s:
            if t < s:
                sh[t] += sh[t + s]
            cuda.syncthreads()
            s >>= 1
        if t == 0:
            out[0] = sh[0]


def check():
    x = rng.integers(0, 9, 1000).astype(np.float32)
    o = np.zeros(1, np.float32)
    c = np.zeros(1, np.uint32)
    total[16, TPB](x, np.zeros(16, np.float32), c, o)
    assert o[0] == x.sum() and c[0] == 0
