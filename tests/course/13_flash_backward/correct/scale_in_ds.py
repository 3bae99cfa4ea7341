# Tiles against tiles on the host, shuffles across the warp, and the scale already in ds.
import math

import numpy as np

from warpwise import cuda


def flash_backward(q, k, v, o, do, L, scale, offset):
    """Tiles of queries against tiles of keys, as the kernels go."""
    dq, dk, dv = (np.zeros(a.shape, np.float32) for a in (q, k, v))
    delta = np.einsum("ic,ic->i", do, o)
    tile = 256
    for a in range(0, len(k), tile):
        ks, vs = k[a : a + tile], v[a : a + tile]
        for b in range(0, len(q), tile):
            qs, dos = q[b : b + tile], do[b : b + tile]
            if b + len(qs) - 1 + offset < a:
                continue
            i, j = b + np.arange(len(qs))[:, None], a + np.arange(len(ks))
            seen = j <= i + offset
            exponent = np.subtract(scale * (qs @ ks.T), L[b : b + tile, None], where=seen, out=np.full(seen.shape, -np.inf, np.float32))
            p = np.exp(exponent)
            ds = p * (dos @ vs.T - delta[b : b + tile, None]) * scale
            dq[b : b + tile] += ds @ ks
            dk[a : a + tile] += ds.T @ qs
            dv[a : a + tile] += p.T @ dos
    return dq, dk, dv


@cuda.jit
def row_dots(do, o, delta):
    row = 8 * cuda.blockIdx.x + cuda.threadIdx.y
    total = np.float32(0)
    for c in range(cuda.threadIdx.x, do.shape[1], 32):
        if row < do.shape[0]:
            total += do[row, c] * o[row, c]
    for step in (1, 2, 4, 8, 16):
        total += cuda.shfl_xor_sync(ALL, total, step)
    if cuda.laneid == 0 and row < do.shape[0]:
        delta[row] = total


@cuda.jit
def dk_dv(q, k, v, do, L, delta, scale, dk, dv):
    k_tile = cuda.shared.array((TILE, PITCH), np.float32)
    v_tile = cuda.shared.array((TILE, PITCH), np.float32)
    q_tile = cuda.shared.array((TILE, PITCH), np.float32)
    do_tile = cuda.shared.array((TILE, PITCH), np.float32)
    p_tile = cuda.shared.array((TILE, TILE), np.float32)  # a row for each key
    ds_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    key = TILE * cuda.blockIdx.x + y
    load_tile(k_tile, k, TILE * cuda.blockIdx.x)
    load_tile(v_tile, v, TILE * cuda.blockIdx.x)
    dk_0 = dk_1 = dv_0 = dv_1 = np.float32(0)
    for first in range(0, q.shape[0], TILE):
        load_tile(q_tile, q, first)
        load_tile(do_tile, do, first)
        cuda.syncthreads()
        s = dp = np.float32(0)
        for c in range(WIDTH):
            s += q_tile[x, c] * k_tile[y, c]
            dp += do_tile[x, c] * v_tile[y, c]
        p = np.float32(0)
        ds = np.float32(0)
        if q.shape[0] > first + x:
            p = math.exp(scale * s - L[first + x])
            ds = p * (dp - delta[first + x])
        p_tile[y, x] = p
        ds_tile[y, x] = ds
        cuda.syncthreads()
        for i in range(TILE):
            dv_0 += p_tile[y, i] * do_tile[i, x]
            dv_1 += p_tile[y, i] * do_tile[i, x + TILE]
            dk_0 += ds_tile[y, i] * q_tile[i, x]
            dk_1 += ds_tile[y, i] * q_tile[i, x + TILE]
        cuda.syncthreads()
    if key < k.shape[0]:
        dv[key, x] = dv_0
        dv[key, x + TILE] = dv_1
        dk[key, x] = scale * dk_0
        dk[key, x + TILE] = scale * dk_1


@cuda.jit
def dq_rows(q, k, v, do, L, delta, scale, offset, dq):
    k_tile = cuda.shared.array((TILE, PITCH), np.float32)
    v_tile = cuda.shared.array((TILE, PITCH), np.float32)
    q_tile = cuda.shared.array((TILE, PITCH), np.float32)
    do_tile = cuda.shared.array((TILE, PITCH), np.float32)
    ds_tile = cuda.shared.array((TILE, TILE), np.float32)  # a row for each query
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    first_query = TILE * cuda.blockIdx.x
    query = first_query + y
    load_tile(q_tile, q, first_query)
    load_tile(do_tile, do, first_query)
    dq_0 = dq_1 = np.float32(0)
    for first in range(0, min(k.shape[0], first_query + TILE + offset), TILE):
        load_tile(k_tile, k, first)
        load_tile(v_tile, v, first)
        cuda.syncthreads()
        s = dp = np.float32(0)
        for c in range(WIDTH):
            s += q_tile[y, c] * k_tile[x, c]
            dp += do_tile[y, c] * v_tile[x, c]
        key = first + x
        ds = np.float32(0)
        if query < q.shape[0] and key < k.shape[0] and key <= query + offset:
            ds = scale * math.exp(scale * s - L[query]) * (dp - delta[query])
        ds_tile[y, x] = ds
        cuda.syncthreads()
        for j in range(TILE):
            dq_0 += ds_tile[y, j] * k_tile[j, x]
            dq_1 += ds_tile[y, j] * k_tile[j, x + TILE]
        cuda.syncthreads()
    if query < q.shape[0]:
        dq[query, x] = dq_0
        dq[query, x + TILE] = dq_1


@cuda.jit
def backward(q, k, v, do, L, delta, scale, offset, dq, dk, dv):
    k_tile = cuda.shared.array((TILE, PITCH), np.float32)
    v_tile = cuda.shared.array((TILE, PITCH), np.float32)
    q_tile = cuda.shared.array((TILE, PITCH), np.float32)
    do_tile = cuda.shared.array((TILE, PITCH), np.float32)
    p_tile = cuda.shared.array((TILE, TILE), np.float32)  # a row for each key
    ds_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    first_key = TILE * cuda.blockIdx.x
    key = first_key + y
    load_tile(k_tile, k[head], first_key)
    load_tile(v_tile, v[head], first_key)
    dk_0 = dk_1 = dv_0 = dv_1 = np.float32(0)
    for first in range(TILE * (max(0, first_key - offset) // TILE), q.shape[1], TILE):
        load_tile(q_tile, q[head], first)
        load_tile(do_tile, do[head], first)
        cuda.syncthreads()
        s = dp = np.float32(0)
        for c in range(WIDTH):
            s += q_tile[x, c] * k_tile[y, c]
            dp += do_tile[x, c] * v_tile[y, c]
        query = first + x
        p = ds = np.float32(0)
        if query < q.shape[1] and key < k.shape[1] and key <= query + offset:
            p = math.exp(scale * s - L[head, query])
            ds = p * (dp - delta[head, query])
        p_tile[y, x] = p
        ds_tile[y, x] = scale * ds
        cuda.syncthreads()
        dq_0 = dq_1 = np.float32(0)
        for i in range(TILE):
            dv_0 += p_tile[y, i] * do_tile[i, x]
            dv_1 += p_tile[y, i] * do_tile[i, x + TILE]
            dk_0 += ds_tile[y, i] * q_tile[i, x]
            dk_1 += ds_tile[y, i] * q_tile[i, x + TILE]
            dq_0 += ds_tile[i, y] * k_tile[i, x]
            dq_1 += ds_tile[i, y] * k_tile[i, x + TILE]
        if first + y < q.shape[1]:
            cuda.atomic.add(dq, (head, first + y, x), dq_0)
            cuda.atomic.add(dq, (head, first + y, x + TILE), dq_1)
        cuda.syncthreads()
    if key < k.shape[1]:
        dv[head, key, x] = dv_0
        dv[head, key, x + TILE] = dv_1
        dk[head, key, x] = dk_0
        dk[head, key, x + TILE] = dk_1


def attention_memory(heads, n, d, item_bytes):
    q = k = v = o = heads * n * d * item_bytes
    p = dp = ds = heads * n**2 * item_bytes
    L = delta = heads * n * 4
    return q + k + v + p, dp + ds, q + k + v + o + L, delta + heads * n * d * 4
