# Tiles of queries outermost in NumPy, with a running L in place of m and total; in kernels, one thread of a row finds its maximum for all.
import math

import numpy as np

from warpwise import cuda


def flash_numpy(q, k, v, scale, tile):
    o = np.zeros(q.shape, np.float32)
    lse = np.full(len(q), -np.inf, np.float32)
    for start in range(0, len(k), tile):
        keys, values = k[start : start + tile], v[start : start + tile]
        for first in range(0, len(q), tile):
            rows = slice(first, first + tile)
            s = scale * (q[rows] @ keys.T)
            m = s.max(axis=1)
            w = np.exp(s - m[:, None])
            part = m + np.log(w.sum(axis=1))
            both = np.logaddexp(lse[rows], part)
            o[rows] = np.exp(lse[rows] - both)[:, None] * o[rows] + np.exp(m - both)[:, None] * (w @ values)
            lse[rows] = both
    return o, lse


@cuda.jit
def flash_rows(q, k, v, o, L, scale):
    i = cuda.grid(1)
    if i >= q.shape[0]:
        return
    mine = cuda.local.array(WIDTH, np.float32)
    acc = cuda.local.array(WIDTH, np.float32)
    for e in range(WIDTH):
        mine[e] = q[i, e] * scale
        acc[e] = 0
    m, total = np.float32(-math.inf), np.float32(0)
    for j in range(k.shape[0]):
        s = np.float32(0)
        for e in range(WIDTH):
            s += mine[e] * k[j, e]
        if s > m:  # only now is there anything to correct
            fix = math.exp(m - s)
            total *= fix
            for e in range(WIDTH):
                acc[e] *= fix
            m = s
        p = math.exp(s - m)
        total += p
        for e in range(WIDTH):
            acc[e] += p * v[j, e]
    for e in range(WIDTH):
        o[i, e] = acc[e] / total
    L[i] = math.log(total) + m


@cuda.jit
def flash_tiles(q, k, v, lengths, o, L, scale):
    kt = cuda.shared.array((D, ROW), np.float32)
    vs = cuda.shared.array((TILE, PITCH), np.float32)
    ps = cuda.shared.array((TILE, ROW), np.float32)
    qs = cuda.shared.array((TILE, PITCH), np.float32)
    ms = cuda.shared.array(TILE, np.float32)
    fixes = cuda.shared.array(TILE, np.float32)
    totals = cuda.shared.array(TILE, np.float32)
    acc = cuda.local.array(PATCH, np.float32)
    x, y, h = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    row, n = cuda.blockIdx.x * TILE + y, q.shape[1]
    t = y * TILE + x
    for i in range(t, TILE * D, TILE * TILE):
        r, e = i // D, i % D
        if cuda.blockIdx.x * TILE + r < n:
            qs[r, e] = q[h, cuda.blockIdx.x * TILE + r, e] * scale
        else:
            qs[r, e] = 0
    if x == 0:
        ms[y] = -math.inf
        totals[y] = 0
    for j in range(PATCH):
        acc[j] = 0
    keys = lengths[h]
    for start in range(0, keys, TILE):
        cuda.syncthreads()
        for i in range(t, TILE * D, TILE * TILE):
            r, e = i // D, i % D
            kt[e, r] = k[h, start + r, e] if start + r < keys else np.float32(0)
            vs[r, e] = v[h, start + r, e] if start + r < keys else np.float32(0)
        cuda.syncthreads()
        s = np.float32(0)
        for e in range(D):
            s += qs[y, e] * kt[e, x]
        ps[y, x] = s
        cuda.syncthreads()
        count = min(TILE, keys - start)
        if x == 0:
            above = ms[y]
            for c in range(count):
                above = max(above, ps[y, c])
            fixes[y] = math.exp(ms[y] - above)
            totals[y] *= fixes[y]
            ms[y] = above
        cuda.syncthreads()
        ps[y, x] = math.exp(s - ms[y])
        cuda.syncthreads()
        if x == 0:
            for c in range(count):
                totals[y] += ps[y, c]
        for j in range(PATCH):
            acc[j] *= fixes[y]
            for c in range(count):
                acc[j] += ps[y, c] * vs[c, j * TILE + x]
    cuda.syncthreads()
    if row < n:
        for j in range(PATCH):
            if keys > 0:
                o[h, row, j * TILE + x] = acc[j] / totals[y]
            else:
                o[h, row, j * TILE + x] = 0
        if x == 0:
            if keys > 0:
                L[h, row] = ms[y] + math.log(totals[y])
            else:
                L[h, row] = -math.inf


@cuda.jit
def flash_causal(q, k, v, o, L, scale):
    qs = cuda.shared.array((GROUP, TILE, PITCH), np.float32)
    ks = cuda.shared.array((TILE, PITCH), np.float32)
    vs = cuda.shared.array((TILE, PITCH), np.float32)
    ps = cuda.shared.array((GROUP, TILE, ROW), np.float32)
    acc = cuda.local.array(PATCH, np.float32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    n, keys = q.shape[1], k.shape[1]
    g, heads = cuda.blockIdx.y, cuda.blockDim.z
    h = g * heads + z
    row = cuda.blockIdx.x * TILE + y
    sees = row + 1 + keys - n  # keys that this query sees
    most = min(cuda.blockIdx.x * TILE + TILE, n) + keys - n
    for j in range(PATCH):
        acc[j] = 0
        if row < n:
            qs[z, y, j * TILE + x] = q[h, row, j * TILE + x]
        else:
            qs[z, y, j * TILE + x] = 0
    m, total = np.float32(-1e30), np.float32(0)
    start = 0
    while start < most:
        for i in range((z * TILE + y) * TILE + x, TILE * D, heads * TILE * TILE):
            r, e = i // D, i % D
            inside = start + r < keys
            ks[r, e] = k[g, start + r, e] if inside else np.float32(0)
            vs[r, e] = v[g, start + r, e] if inside else np.float32(0)
        cuda.syncthreads()
        s = np.float32(0)
        for e in range(D):
            s += qs[z, y, e] * ks[x, e]
        ps[z, y, x] = s * scale
        cuda.syncthreads()
        count = min(TILE, sees - start, keys - start)
        above = m
        for c in range(count):
            above = max(above, ps[z, y, c])
        cuda.syncthreads()
        if x < count:
            ps[z, y, x] = math.exp(ps[z, y, x] - above)
        cuda.syncthreads()
        fix = math.exp(m - above)
        m = above
        total *= fix
        for c in range(count):
            total += ps[z, y, c]
        for j in range(PATCH):
            acc[j] *= fix
            for c in range(count):
                acc[j] += ps[z, y, c] * vs[c, j * TILE + x]
        cuda.syncthreads()
        start += TILE
    if row < n:
        for j in range(PATCH):
            o[h, row, j * TILE + x] = 0
            if sees > 0:
                o[h, row, j * TILE + x] = acc[j] / total
        if x == 0:
            L[h, row] = -math.inf
            if sees > 0:
                L[h, row] = m + math.log(total)


@cuda.jit
def decode_partial(q, k, v, o_part, L_part, scale):
    tile = cuda.shared.array((CHUNK, PITCH), np.float32)
    query = cuda.shared.array(D, np.float32)
    weights = cuda.shared.array(CHUNK, np.float32)
    scores = cuda.shared.array(CHUNK, np.float32)
    halves = cuda.shared.array((2, D), np.float32)
    t, c, h = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
    count = max(0, min(CHUNK, k.shape[1] - c * CHUNK))
    e, half = t % D, t // D
    if t < D:
        query[t] = q[h, t] * scale
    for r in range(half, count, 2):
        tile[r, e] = k[h, c * CHUNK + r, e]
    cuda.syncthreads()
    if t < count:
        s = np.float32(0)
        for i in range(D):
            s += query[i] * tile[t, i]
        scores[t] = s
    cuda.syncthreads()
    m, total = np.float32(-1e30), np.float32(0)
    for r in range(count):
        m = max(m, scores[r])
    if t < count:
        weights[t] = math.exp(scores[t] - m)
    cuda.syncthreads()
    for r in range(count):
        total += weights[r]
    acc = np.float32(0)
    for r in range(half, count, 2):
        acc += weights[r] * v[h, c * CHUNK + r, e]
    halves[half, e] = acc
    cuda.syncthreads()
    if t < D:
        o_part[h, c, t] = (halves[0, t] + halves[1, t]) / total if count else np.float32(0)
    if t == 0:
        L_part[h, c] = m + math.log(total) if count else np.float32(-math.inf)


@cuda.jit
def decode_merge(o_part, L_part, o, L):
    t, h = cuda.threadIdx.x, cuda.blockIdx.x
    m, total, acc = np.float32(-math.inf), np.float32(0), np.float32(0)
    for c in range(L_part.shape[1]):
        part = L_part[h, c]
        if part > np.float32(-math.inf):
            above = max(m, part)
            fix, p = math.exp(m - above), math.exp(part - above)
            total = total * fix + p
            acc = acc * fix + p * o_part[h, c, t]
            m = above
    o[h, t] = acc / total if total > np.float32(0) else np.float32(0)
    if t == 0:
        L[h] = m + math.log(total) if total > np.float32(0) else np.float32(-math.inf)
