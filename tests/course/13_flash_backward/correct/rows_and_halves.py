# Row by row on the host, sums in shared memory in place of shuffles, and dq that is gathered in its own loop.
import math

import numpy as np

from warpwise import cuda


def flash_backward(q, k, v, o, do, L, scale, offset):
    dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for i in range(q.shape[0]):
        end = max(0, min(k.shape[0], i + int(offset) + 1))
        if end:
            p = np.exp(scale * (k[:end] @ q[i]) - L[i])
            ds = p * (v[:end] @ do[i] - np.dot(do[i], o[i]))
            dv[:end] += p[:, None] * do[i]
            dk[:end] += ds[:, None] * (scale * q[i])
            dq[i] = scale * (ds @ k[:end])
    return dq, dk, dv


@cuda.jit
def row_dots(do, o, delta):
    parts = cuda.shared.array((8, 33), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = 8 * cuda.blockIdx.x + y
    total = np.float32(0)
    if row < do.shape[0]:
        for c in range(x, do.shape[1], 32):
            total += do[row, c] * o[row, c]
    parts[y, x] = total
    cuda.syncthreads()
    if x == 0 and row < do.shape[0]:
        total = np.float32(0)
        for c in range(32):
            total += parts[y, c]
        delta[row] = total


@cuda.jit
def dk_dv(q, k, v, do, L, delta, scale, dk, dv):
    k_tile = cuda.shared.array((TILE, PITCH), np.float32)
    v_tile = cuda.shared.array((TILE, PITCH), np.float32)
    q_tile = cuda.shared.array((TILE, PITCH), np.float32)
    do_tile = cuda.shared.array((TILE, PITCH), np.float32)
    p_tile = cuda.shared.array((TILE, TILE), np.float32)  # a row for each query, so that lanes are keys
    ds_tile = cuda.shared.array((TILE, TILE), np.float32)
    l_tile = cuda.shared.array(TILE, np.float32)
    delta_tile = cuda.shared.array(TILE, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    first_key = TILE * cuda.blockIdx.x
    load_tile(k_tile, k, first_key)
    load_tile(v_tile, v, first_key)
    own = cuda.local.array(4, np.float32)
    for c in range(4):
        own[c] = 0
    first = 0
    while first < q.shape[0]:
        cuda.syncthreads()
        load_tile(q_tile, q, first)
        load_tile(do_tile, do, first)
        if y == 0 and first + x < q.shape[0]:
            l_tile[x] = L[first + x]
            delta_tile[x] = delta[first + x]
        cuda.syncthreads()
        rows = min(TILE, q.shape[0] - first)
        s = np.float32(0)
        dp = np.float32(0)
        for c in range(WIDTH):
            s += q_tile[y, c] * k_tile[x, c]
            dp += do_tile[y, c] * v_tile[x, c]
        if y < rows:
            p = math.exp(s * scale - l_tile[y])
            p_tile[y, x] = p
            ds_tile[y, x] = p * (dp - delta_tile[y]) * scale
        cuda.syncthreads()
        for i in range(rows):
            for half in range(2):
                own[half] += p_tile[i, y] * do_tile[i, x + 16 * half]
                own[2 + half] += ds_tile[i, y] * q_tile[i, x + 16 * half]
        first += TILE
    if first_key + y < k.shape[0]:
        for half in range(2):
            dv[first_key + y, x + 16 * half] = own[half]
            dk[first_key + y, x + 16 * half] = own[2 + half]


@cuda.jit
def dq_rows(q, k, v, do, L, delta, scale, offset, dq):
    k_tile = cuda.shared.array((TILE, PITCH), np.float32)
    v_tile = cuda.shared.array((TILE, PITCH), np.float32)
    q_tile = cuda.shared.array((TILE, PITCH), np.float32)
    do_tile = cuda.shared.array((TILE, PITCH), np.float32)
    ds_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    query = TILE * cuda.blockIdx.x + y
    load_tile(q_tile, q, TILE * cuda.blockIdx.x)
    load_tile(do_tile, do, TILE * cuda.blockIdx.x)
    end = min(k.shape[0], TILE * (cuda.blockIdx.x + 1) + offset)
    low, high = np.float32(0), np.float32(0)
    for tile in range(max(0, end + TILE - 1) // TILE):
        load_tile(k_tile, k, TILE * tile)
        load_tile(v_tile, v, TILE * tile)
        cuda.syncthreads()
        key = TILE * tile + x
        ds_tile[y, x] = 0
        if query < q.shape[0] and key < min(k.shape[0], query + offset + 1):
            s = dp = np.float32(0)
            for c in range(WIDTH):
                s += q_tile[y, c] * k_tile[x, c]
                dp += do_tile[y, c] * v_tile[x, c]
            ds_tile[y, x] = math.exp(scale * s - L[query]) * (dp - delta[query]) * scale
        cuda.syncthreads()
        for j in range(TILE):
            low += ds_tile[y, j] * k_tile[j, x]
            high += ds_tile[y, j] * k_tile[j, x + 16]
        cuda.syncthreads()
    if query < q.shape[0]:
        dq[query, x] = low
        dq[query, x + 16] = high


@cuda.jit
def backward(q, k, v, do, L, delta, scale, offset, dq, dk, dv):
    k_tile = cuda.shared.array((TILE, PITCH), np.float32)
    v_tile = cuda.shared.array((TILE, PITCH), np.float32)
    q_tile = cuda.shared.array((TILE, PITCH), np.float32)
    do_tile = cuda.shared.array((TILE, PITCH), np.float32)
    p_tile = cuda.shared.array((TILE, TILE), np.float32)
    ds_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y, h = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    n, n_keys = q.shape[1], k.shape[1]
    first_key = TILE * cuda.blockIdx.x
    load_tile(k_tile, k[h], first_key)
    load_tile(v_tile, v[h], first_key)
    k0 = k1 = v0 = v1 = np.float32(0)
    for first in range(0, n, TILE):
        if first + TILE - 1 + offset >= first_key:
            cuda.syncthreads()
            load_tile(q_tile, q[h], first)
            load_tile(do_tile, do[h], first)
            cuda.syncthreads()
            query, key = first + y, first_key + x
            p_tile[y, x] = 0
            ds_tile[y, x] = 0
            if query < n and key < n_keys and key <= query + offset:
                s = dp = np.float32(0)
                for c in range(WIDTH):
                    s += q_tile[y, c] * k_tile[x, c]
                    dp += do_tile[y, c] * v_tile[x, c]
                p = math.exp(scale * s - L[h, query])
                p_tile[y, x] = p
                ds_tile[y, x] = scale * p * (dp - delta[h, query])
            cuda.syncthreads()
            for i in range(TILE):
                v0 += p_tile[i, y] * do_tile[i, x]
                v1 += p_tile[i, y] * do_tile[i, x + 16]
                k0 += ds_tile[i, y] * q_tile[i, x]
                k1 += ds_tile[i, y] * q_tile[i, x + 16]
            for half in range(2):
                total = np.float32(0)
                for j in range(TILE):
                    total += ds_tile[y, j] * k_tile[j, x + 16 * half]
                if query < n:
                    cuda.atomic.add(dq, (h, query, x + 16 * half), total)
    if first_key + y < n_keys:
        dv[h, first_key + y, x] = v0
        dv[h, first_key + y, x + 16] = v1
        dk[h, first_key + y, x] = k0
        dk[h, first_key + y, x + 16] = k1


def attention_memory(heads, n, d, item_bytes):
    per_row = (3 * d + n) * item_bytes, 2 * n * item_bytes, 4 * d * item_bytes + 4, 4 + 4 * d
    return tuple(heads * n * row for row in per_row)
