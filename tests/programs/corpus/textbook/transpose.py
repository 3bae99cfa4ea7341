"""Transposition by a padded tile and by a swizzled one, with the counters that follow."""

import numpy as np
from numba import float32

from warpwise import cuda, trace

rng = np.random.default_rng(3)

T = 32
ROWS = 8
T1 = T + 1


@cuda.jit
def tr_pad(x, y):
    tile = cuda.shared.array((T, T1), float32)
    i = cuda.blockIdx.x * T + cuda.threadIdx.x
    j = cuda.blockIdx.y * T + cuda.threadIdx.y
    for k in range(0, T, ROWS):
        if i < x.shape[1] and j + k < x.shape[0]:
            tile[cuda.threadIdx.y + k, cuda.threadIdx.x] = x[j + k, i]
    cuda.syncthreads()
    i = cuda.blockIdx.y * T + cuda.threadIdx.x
    j = cuda.blockIdx.x * T + cuda.threadIdx.y
    for k in range(0, T, ROWS):
        if i < y.shape[1] and j + k < y.shape[0]:
            y[j + k, i] = tile[cuda.threadIdx.x, cuda.threadIdx.y + k]


@cuda.jit
def tr_swz(x, y):
    tile = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for k in range(0, T, ROWS):
        tile[ty + k, tx ^ (ty + k)] = x[cuda.blockIdx.y * T + ty + k, cuda.blockIdx.x * T + tx]
    cuda.syncthreads()
    for k in range(0, T, ROWS):
        y[cuda.blockIdx.x * T + ty + k, cuda.blockIdx.y * T + tx] = tile[tx, (ty + k) ^ tx]


def check():
    x = rng.random((70, 45), dtype=np.float32)
    y = np.zeros((45, 70), np.float32)
    tr_pad[(2, 3), (T, ROWS)](x, y)
    assert (y == x.T).all()
    x = rng.random((64, 96), dtype=np.float32)
    y = np.zeros((96, 64), np.float32)
    t = trace(tr_swz, (3, 2), (T, ROWS), x, y)
    assert (y == x.T).all() and not t.races
    assert t.metrics.shared_bank_conflicts == 0, t.metrics
    assert t.metrics.global_load_requests == 6 * 32 and t.metrics.sectors_per_request_load == 4
