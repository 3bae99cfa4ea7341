"""Sums of rows: while one half of shared memory is read, the other is filled."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)

T = 32


@cuda.jit
def rowsum_db(x, y):
    buf = cuda.shared.array((2, T), float32)
    t = cuda.threadIdx.x
    n = x.shape[1] // T
    buf[0, t] = x[cuda.blockIdx.x, t]
    acc = float32(0)
    for k in range(n):
        cuda.syncthreads()
        if k + 1 < n:
            buf[(k + 1) % 2, t] = x[cuda.blockIdx.x, (k + 1) * T + t]
        for j in range(T):
            acc += buf[k & 1, (j + t) % T]
    if t == 0:
        y[cuda.blockIdx.x] = acc


def check():
    x = rng.integers(0, 5, (4, 256)).astype(np.float32)
    y = np.zeros(4, np.float32)
    rowsum_db[4, T](x, y)
    assert (y == x.sum(1)).all()
