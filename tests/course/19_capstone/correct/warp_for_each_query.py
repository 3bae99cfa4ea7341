"""A warp for each query: maxima and sums by shuffles, weights handed round in registers, and one function for a tile."""

import math

import numpy as np

from warpwise import cuda

FULL = 0xFFFFFFFF


@cuda.jit(device=True)
def load(tile, source, head, start, x, y):
    for r in range(y, 32, 8):
        tile[r, x] = source[head, start + r, x] if start + r < source.shape[1] else np.float32(0)


@cuda.jit(device=True)
def product(mine, K, x):
    """The lane's own key times the warp's query, of which each lane holds one number."""
    s = np.float32(0)
    for c in range(32):
        s += cuda.shfl_sync(FULL, mine, c) * K[x, c]
    return s


@cuda.jit(device=True)
def merge(s, m, total, acc, V, x):
    """The state of a row after a tile whose scores the lanes hold."""
    top = s
    for step in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(FULL, top, step))
    above = max(m, top)
    if above == np.float32(-np.inf):
        return m, total, acc
    p, fix = math.exp(s - above), math.exp(m - above)
    total, acc = total * fix, acc * fix
    for j in range(32):
        weight = cuda.shfl_sync(FULL, p, j)
        total += weight
        acc += weight * V[j, x]
    return above, total, acc


@cuda.jit(device=True)
def finish(o, L, head, row, x, m, total, acc):
    if row < o.shape[1]:
        o[head, row, x] = acc / total
        if x == 0:
            L[head, row] = m + math.log(total)


@cuda.jit
def sliding_window(q, k, v, o, L, scale, window):
    K, V = cuda.shared.array((32, 33), np.float32), cuda.shared.array((32, 33), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    n, row = q.shape[1], 8 * cuda.blockIdx.x + y
    mine = q[head, row, x] if row < n else np.float32(0)
    m, total, acc = np.float32(-np.inf), np.float32(0), np.float32(0)
    start = max(0, 8 * cuda.blockIdx.x - window + 1)  # tiles begin where the window does
    while start < min(n, 8 * cuda.blockIdx.x + 8):
        load(K, k, head, start, x, y)
        load(V, v, head, start, x, y)
        cuda.syncthreads()
        s = product(mine, K, x) * scale
        back = row - (start + x)
        m, total, acc = merge(s if 0 <= back < window else np.float32(-np.inf), m, total, acc, V, x)
        cuda.syncthreads()
        start += 32
    finish(o, L, head, row, x, m, total, acc)


@cuda.jit
def alibi(q, k, v, o, L, scale, slopes):
    K, V = cuda.shared.array((32, 33), np.float32), cuda.shared.array((32, 33), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    n, row = q.shape[1], 8 * cuda.blockIdx.x + y
    mine = q[head, row, x] * scale if row < n else np.float32(0)
    m, total, acc = np.float32(-np.inf), np.float32(0), np.float32(0)
    slope = slopes[head]
    bias = slope * (np.float32(x) - np.float32(row))
    for start in range(0, min(n, 8 * cuda.blockIdx.x + 8), 32):
        load(K, k, head, start, x, y)
        load(V, v, head, start, x, y)
        cuda.syncthreads()
        s = product(mine, K, x) + (bias + slope * np.float32(start))
        m, total, acc = merge(s if start + x <= row else np.float32(-np.inf), m, total, acc, V, x)
        cuda.syncthreads()
    finish(o, L, head, row, x, m, total, acc)


@cuda.jit
def soft_cap(q, k, v, o, L, scale, cap):
    K, V = cuda.shared.array((32, 33), np.float32), cuda.shared.array((32, 33), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    n, row = q.shape[1], 8 * cuda.blockIdx.x + y
    mine = q[head, row, x] * scale / cap if row < n else np.float32(0)
    m, total, acc = np.float32(-np.inf), np.float32(0), np.float32(0)
    for start in range(0, min(n, 8 * cuda.blockIdx.x + 8), 32):
        load(K, k, head, start, x, y)
        load(V, v, head, start, x, y)
        cuda.syncthreads()
        s = cap * math.tanh(product(mine, K, x))
        m, total, acc = merge(s if start + x <= row else np.float32(-np.inf), m, total, acc, V, x)
        cuda.syncthreads()
    finish(o, L, head, row, x, m, total, acc)
