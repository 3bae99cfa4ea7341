# Scores are kept in units of log 2, so that exp2 serves, as in many libraries; loops that stop early in place of masks.
import math

import numpy as np

from warpwise import cuda


def flash_numpy(q, k, v, scale, tile):
    parts = [_rows(q[i : i + tile], k, v, scale, tile) for i in range(0, len(q), tile)]
    o, lse = (np.concatenate(rows) for rows in zip(*parts, strict=True))
    return o, lse


def _rows(q, k, v, scale, tile):
    m = np.full(len(q), -1e30)
    sums = np.zeros((len(q), v.shape[1] + 1))
    ones = np.ones((tile, 1))
    for j in range(0, len(k), tile):
        s = (q @ k[j : j + tile].T) * (scale / math.log(2))
        above = np.maximum(m, s.max(axis=1))
        width = s.shape[1]
        both = np.hstack([v[j : j + tile], ones[:width]])
        sums = sums * np.exp2(m - above)[:, None] + np.exp2(s - above[:, None]) @ both
        m = above
    total = sums[:, -1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        o = np.where(total > 0, sums[:, :-1] / total, 0)
        lse = np.where(total[:, 0] > 0, math.log(2) * m + np.log(total[:, 0]), -np.inf)
    return o.astype(np.float32), lse.astype(np.float32)


@cuda.jit
def flash_rows(q, k, v, o, L, scale):
    i = cuda.grid(1)
    row = cuda.local.array(WIDTH, np.float32)
    acc = cuda.local.array(WIDTH, np.float32)
    n = q.shape[0]
    if i < n:
        for e in range(WIDTH):
            row[e] = q[i, e] * (scale * np.float32(1.4426950408889634))
            acc[e] = np.float32(0)
    m, total = np.float32(-math.inf), np.float32(0)
    for j in range(k.shape[0] if i < n else 0):
        s = np.float32(0)
        for e in range(WIDTH):
            s += row[e] * k[j, e]
        above = max(m, s)
        fix, p = math.exp2(m - above), math.exp2(s - above)
        m, total = above, total * fix + p
        for e in range(WIDTH):
            acc[e] = acc[e] * fix + p * v[j, e]
    if i < n:
        for e in range(WIDTH):
            o[i, e] = acc[e] / total
        L[i] = m * np.float32(0.6931471805599453) + math.log(total)


@cuda.jit
def flash_tiles(q, k, v, lengths, o, L, scale):
    qs = cuda.shared.array((TILE, PITCH), np.float32)
    ks = cuda.shared.array((TILE, PITCH), np.float32)
    vs = cuda.shared.array((TILE, D), np.float32)
    ss = cuda.shared.array((TILE, ROW), np.float32)
    acc = cuda.local.array(PATCH, np.float32)
    x, y, h = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    row, keys = TILE * cuda.blockIdx.x + y, lengths[h]
    for j in range(PATCH):
        acc[j] = np.float32(0)
        if row < q.shape[1]:
            qs[y, x + TILE * j] = q[h, row, x + TILE * j]
        else:
            qs[y, x + TILE * j] = np.float32(0)
    m, total = np.float32(-math.inf), np.float32(0)
    for tile in range((keys + TILE - 1) // TILE):
        count = min(TILE, keys - TILE * tile)
        if y < count:
            for j in range(PATCH):
                ks[y, x + TILE * j] = k[h, TILE * tile + y, x + TILE * j]
                vs[y, x + TILE * j] = v[h, TILE * tile + y, x + TILE * j]
        cuda.syncthreads()
        s = np.float32(0)
        if x < count:
            for e in range(D):
                s += qs[y, e] * ks[x, e]
        ss[y, x] = s * scale
        cuda.syncthreads()
        top = ss[y, 0]
        for c in range(1, count):
            top = max(top, ss[y, c])
        above = max(m, top)
        fix = math.exp(m - above)
        p = math.exp(ss[y, x] - above)
        cuda.syncthreads()
        ss[y, x] = p
        cuda.syncthreads()
        m = above
        total *= fix
        for c in range(count):
            total += ss[y, c]
        for j in range(PATCH):
            part = np.float32(0)
            for c in range(count):
                part += ss[y, c] * vs[c, x + TILE * j]
            acc[j] = acc[j] * fix + part
        cuda.syncthreads()
    if row < q.shape[1]:
        for j in range(PATCH):
            o[h, row, x + TILE * j] = np.float32(0) if keys == 0 else acc[j] / total
        if x == 0:
            L[h, row] = np.float32(-math.inf) if keys == 0 else m + math.log(total)


@cuda.jit
def flash_causal(q, k, v, o, L, scale):
    qs = cuda.shared.array((GROUP, TILE, PITCH), np.float32)
    ks = cuda.shared.array((TILE, PITCH), np.float32)
    vs = cuda.shared.array((TILE, D), np.float32)
    ss = cuda.shared.array((GROUP, TILE, ROW), np.float32)
    acc = cuda.local.array(PATCH, np.float32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    n, keys = q.shape[1], k.shape[1]
    kv, group = cuda.blockIdx.y, q.shape[0] // k.shape[0]
    h = group * kv + z
    row = TILE * cuda.blockIdx.x + y
    last = min(TILE * cuda.blockIdx.x + TILE, n) - 1 + keys - n
    for j in range(PATCH):
        acc[j] = np.float32(0)
        qs[z, y, x + TILE * j] = q[h, row, x + TILE * j] if row < n else np.float32(0)
    m, total = np.float32(-math.inf), np.float32(0)
    for tile in range((keys + TILE - 1) // TILE):
        start = TILE * tile
        if start > last:
            break
        for j in range(z, PATCH, group):  # the first two heads load half of a row each
            column = x + TILE * j
            ks[y, column] = k[kv, start + y, column] if start + y < keys else np.float32(0)
            vs[y, column] = v[kv, start + y, column] if start + y < keys else np.float32(0)
        cuda.syncthreads()
        s = np.float32(0)
        for e in range(D):
            s += qs[z, y, e] * ks[x, e]
        ss[z, y, x] = s * scale if start + x <= min(keys - 1, row + keys - n) else np.float32(-math.inf)
        cuda.syncthreads()
        above = m
        for c in range(TILE):
            above = max(above, ss[z, y, c])
        p, fix = np.float32(0), np.float32(1)
        if above > np.float32(-math.inf):
            p, fix = math.exp(ss[z, y, x] - above), math.exp(m - above)
        cuda.syncthreads()
        ss[z, y, x] = p
        cuda.syncthreads()
        m = above
        total *= fix
        for c in range(TILE):
            total += ss[z, y, c]
        for j in range(PATCH):
            part = np.float32(0)
            for c in range(TILE):
                part += ss[z, y, c] * vs[c, x + TILE * j]
            acc[j] = acc[j] * fix + part
        cuda.syncthreads()
    if row < n:
        for j in range(PATCH):
            o[h, row, x + TILE * j] = acc[j] / total if row + keys >= n else np.float32(0)
        if x == 0:
            L[h, row] = m + math.log(total) if row + keys >= n else np.float32(-math.inf)


@cuda.jit
def decode_partial(q, k, v, o_part, L_part, scale):
    ks = cuda.shared.array((CHUNK, PITCH), np.float32)
    ps = cuda.shared.array(CHUNK, np.float32)
    tops = cuda.shared.array(CHUNK, np.float32)
    t, c, h = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
    mine = q[h, t % D]  # of the query, each lane one element
    for r in range(t // D, CHUNK, 2):
        key = CHUNK * c + r
        ks[r, t % D] = mine * k[h, key, t % D] if key < k.shape[1] else np.float32(0)
    cuda.syncthreads()
    s = np.float32(0)
    for e in range(D):
        s += ks[t, e]
    s = s * scale if CHUNK * c + t < k.shape[1] else np.float32(-math.inf)
    tops[t] = s
    step = CHUNK // 2
    while step > 0:
        cuda.syncthreads()
        if t < step:
            tops[t] = max(tops[t], tops[t + step])
        step //= 2
    cuda.syncthreads()
    m = tops[0]
    ps[t] = math.exp(s - m) if m > np.float32(-math.inf) else np.float32(0)
    cuda.syncthreads()
    if t < D:
        total, acc = np.float32(0), np.float32(0)
        for r in range(CHUNK):
            if CHUNK * c + r < k.shape[1]:
                total += ps[r]
                acc += ps[r] * v[h, CHUNK * c + r, t]
        if total > np.float32(0):
            o_part[h, c, t] = acc / total
            if t == 0:
                L_part[h, c] = m + math.log(total)
        else:
            o_part[h, c, t] = np.float32(0)
            if t == 0:
                L_part[h, c] = np.float32(-math.inf)


@cuda.jit
def decode_merge(o_part, L_part, o, L):
    t, h = cuda.threadIdx.x, cuda.blockIdx.x
    lse, out = np.float32(-math.inf), np.float32(0)
    for c in range(L_part.shape[1]):
        part = L_part[h, c]
        high, low = max(lse, part), min(lse, part)
        if high > np.float32(-math.inf):
            both = high + math.log(np.float32(1) + math.exp(low - high))
            out = out * math.exp(lse - both) + o_part[h, c, t] * math.exp(part - both)
            lse = both
    o[h, t] = out
    if t == 0:
        L[h] = lse
