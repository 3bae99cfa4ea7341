"""Tiles from the last to the first, one buffer for keys and then values, keys turned round, powers of two, early exits."""

import math

import numpy as np

from warpwise import cuda

LOG2E, LN2 = np.float32(1.4426950408889634), np.float32(0.6931471805599453)


@cuda.jit(device=True)
def step(s, m, total, acc, v, head, start, S, T):
    """Scores of a tile, times log2(e), into the state of the thread's row; T held the keys and gets the values."""
    x, y, n = cuda.threadIdx.x, cuda.threadIdx.y, v.shape[1]
    S[y, x] = s
    cuda.syncthreads()
    above = m
    for j in range(32):
        above = max(above, S[y, j])
    for r in range(y, 32, 8):
        T[r, x] = v[head, start + r, x] if start + r < n else np.float32(0)
    safe = above if above > np.float32(-np.inf) else np.float32(0)
    cuda.syncthreads()
    S[y, x] = math.exp2(s - safe)
    cuda.syncthreads()
    fix = math.exp2(m - safe)
    total *= fix
    acc *= fix
    for j in range(31, -1, -1):
        total += S[y, j]
        acc += S[y, j] * T[j, x]
    cuda.syncthreads()
    return above, total, acc


@cuda.jit(device=True)
def dot(Q, T, k, head, start):
    """Query y times key x: the tile lies in T turned round, a key in each column."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for r in range(y, 32, 8):
        T[x, r] = k[head, start + r, x] if start + r < k.shape[1] else np.float32(0)
    cuda.syncthreads()
    s = np.float32(0)
    for c in range(32):
        s += Q[y, c] * T[c, x]
    return s


@cuda.jit(device=True)
def end(o, L, head, row, m, total, acc):
    if row >= o.shape[1]:
        return
    o[head, row, cuda.threadIdx.x] = acc / total
    if cuda.threadIdx.x == 31:
        L[head, row] = (m + math.log2(total)) * LN2


@cuda.jit
def sliding_window(q, k, v, o, L, scale, window):
    Q, S = cuda.shared.array((8, 32), np.float32), cuda.shared.array((8, 32), np.float32)
    T = cuda.shared.array((32, 33), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    first, n = 8 * cuda.blockIdx.x, q.shape[1]
    row = first + y
    Q[y, x] = q[head, min(row, n - 1), x]
    m, total, acc = np.float32(-np.inf), np.float32(0), np.float32(0)
    lowest = max(0, first - (window - 1)) // 32
    for number in range((min(n, first + 8) - 1) // 32, lowest - 1, -1):
        s = dot(Q, T, k, head, 32 * number) * (scale * LOG2E)
        key = 32 * number + x
        if key > row or key + window <= row:
            s = np.float32(-np.inf)
        m, total, acc = step(s, m, total, acc, v, head, 32 * number, S, T)
    end(o, L, head, row, m, total, acc)


@cuda.jit
def alibi(q, k, v, o, L, scale, slopes):
    Q, S = cuda.shared.array((8, 32), np.float32), cuda.shared.array((8, 32), np.float32)
    T = cuda.shared.array((32, 33), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    first, n = 8 * cuda.blockIdx.x, q.shape[1]
    row = first + y
    Q[y, x] = q[head, min(row, n - 1), x]
    slope = slopes[head]
    m, total, acc = np.float32(-np.inf), np.float32(0), np.float32(0)
    for number in range((min(n, first + 8) - 1) // 32, -1, -1):
        s = dot(Q, T, k, head, 32 * number) * scale
        back = np.float32(row - 32 * number - x)
        s = (s - slope * back) * LOG2E if back >= np.float32(0) else np.float32(-np.inf)
        m, total, acc = step(s, m, total, acc, v, head, 32 * number, S, T)
    end(o, L, head, row, m, total, acc)


@cuda.jit
def soft_cap(q, k, v, o, L, scale, cap):
    Q, S = cuda.shared.array((8, 32), np.float32), cuda.shared.array((8, 32), np.float32)
    T = cuda.shared.array((32, 33), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    first, n = 8 * cuda.blockIdx.x, q.shape[1]
    row = first + y
    Q[y, x] = q[head, min(row, n - 1), x]
    m, total, acc = np.float32(-np.inf), np.float32(0), np.float32(0)
    for number in range((min(n, first + 8) - 1) // 32, -1, -1):
        s = dot(Q, T, k, head, 32 * number)
        s = LOG2E * cap * math.tanh(scale * s / cap) if 32 * number + x <= row else np.float32(-np.inf)
        m, total, acc = step(s, m, total, acc, v, head, 32 * number, S, T)
    end(o, L, head, row, m, total, acc)
