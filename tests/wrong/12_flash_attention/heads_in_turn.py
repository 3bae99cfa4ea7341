# expect: flash_causal: wrong result
# Heads take the keys in turn: 0, 1, 0, 1, where 0, 0, 1, 1 is asked for.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def flash_causal(q, k, v, o, L, scale):
    qs = cuda.shared.array((TILE, PITCH), np.float32)
    ks = cuda.shared.array((TILE, PITCH), np.float32)
    vs = cuda.shared.array((TILE, D), np.float32)
    ps = cuda.shared.array((TILE, ROW), np.float32)
    acc = cuda.local.array(PATCH, np.float32)
    x, y, h = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    n, keys, kv = q.shape[1], k.shape[1], h % k.shape[0]
    first = TILE * cuda.blockIdx.x
    row = first + y
    for j in range(PATCH):
        acc[j] = np.float32(0)
        qs[y, x + TILE * j] = q[h, row, x + TILE * j] if row < n else np.float32(0)
    m, total = np.float32(-math.inf), np.float32(0)
    for start in range(0, min(first + TILE, n) + keys - n, TILE):
        for j in range(PATCH):
            column = x + TILE * j
            if start + y < keys:
                ks[y, column] = k[kv, start + y, column]
                vs[y, column] = v[kv, start + y, column]
            else:
                ks[y, column] = np.float32(0)
                vs[y, column] = np.float32(0)
        cuda.syncthreads()
        s = np.float32(0)
        for e in range(D):
            s += qs[y, e] * ks[x, e]
        seen = start + x < keys and start + x <= row + keys - n
        ps[y, x] = s * scale if seen else np.float32(-math.inf)
        cuda.syncthreads()
        above = m
        for c in range(TILE):
            above = max(above, ps[y, c])
        base = above if above > np.float32(-math.inf) else np.float32(0)
        fix, p = math.exp(m - base), math.exp(ps[y, x] - base)
        m = above
        cuda.syncthreads()
        ps[y, x] = p
        cuda.syncthreads()
        total *= fix
        for j in range(PATCH):
            acc[j] *= fix
        for c in range(TILE):
            weight = ps[y, c]
            total += weight
            for j in range(PATCH):
                acc[j] += weight * vs[c, x + TILE * j]
        cuda.syncthreads()
    if row < n:
        some = total > np.float32(0)
        for j in range(PATCH):
            o[h, row, x + TILE * j] = acc[j] / total if some else np.float32(0)
        if x == 0:
            L[h, row] = m + math.log(total) if some else np.float32(-math.inf)
