# expect: flash_tiles: barrier missed
# Threads whose query does not exist skip the loop with its barriers.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def flash_tiles(q, k, v, lengths, o, L, scale):
    qs = cuda.shared.array((TILE, PITCH), np.float32)
    ks = cuda.shared.array((TILE, PITCH), np.float32)
    vs = cuda.shared.array((TILE, D), np.float32)
    ps = cuda.shared.array((TILE, ROW), np.float32)
    acc = cuda.local.array(PATCH, np.float32)
    x, y, h = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    row, keys = TILE * cuda.blockIdx.x + y, lengths[h]
    for j in range(PATCH):
        acc[j] = np.float32(0)
        qs[y, x + TILE * j] = q[h, row, x + TILE * j] if row < q.shape[1] else np.float32(0)
    m, total = np.float32(-math.inf), np.float32(0)
    for start in range(0, keys if row < q.shape[1] else 0, TILE):
        for j in range(PATCH):
            column = x + TILE * j
            if start + y < keys:
                ks[y, column] = k[h, start + y, column]
                vs[y, column] = v[h, start + y, column]
            else:
                ks[y, column] = np.float32(0)
                vs[y, column] = np.float32(0)
        cuda.syncthreads()
        s = np.float32(0)
        for e in range(D):
            s += qs[y, e] * ks[x, e]
        ps[y, x] = s * scale if start + x < keys else np.float32(-math.inf)
        cuda.syncthreads()
        above = m
        for c in range(TILE):
            above = max(above, ps[y, c])
        fix, p = math.exp(m - above), math.exp(ps[y, x] - above)
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
    if row < q.shape[1]:
        some = total > np.float32(0)
        for j in range(PATCH):
            o[h, row, x + TILE * j] = acc[j] / total if some else np.float32(0)
        if x == 0:
            L[h, row] = m + math.log(total) if some else np.float32(-math.inf)
