# expect: flash_tiles: over budget: op_special
# Each thread computes all weights of its row, as do the others of that row.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def flash_tiles(q, k, v, lengths, o, L, scale):
    qs = cuda.shared.array((TILE, PITCH), np.float32)
    ks = cuda.shared.array((TILE, PITCH), np.float32)
    vs = cuda.shared.array((TILE, PITCH), np.float32)
    ss = cuda.shared.array((TILE, ROW), np.float32)
    acc = cuda.local.array(PATCH, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    h = cuda.blockIdx.y
    row = cuda.blockIdx.x * TILE + y
    n = q.shape[1]
    length = lengths[h]
    for p in range(PATCH):
        c = x + p * TILE
        qs[y, c] = q[h, row, c] if row < n else np.float32(0)
        acc[p] = np.float32(0)
    m = np.float32(-math.inf)
    total = np.float32(0)
    for start in range(0, length, TILE):
        for p in range(PATCH):
            c = x + p * TILE
            if start + y < length:
                ks[y, c] = k[h, start + y, c]
                vs[y, c] = v[h, start + y, c]
            else:
                ks[y, c] = np.float32(0)
                vs[y, c] = np.float32(0)
        cuda.syncthreads()
        s = np.float32(0)
        for e in range(D):
            s += qs[y, e] * ks[x, e]
        ss[y, x] = s * scale
        cuda.syncthreads()
        count = min(TILE, length - start)
        new = m
        for j in range(count):
            new = max(new, ss[y, j])
        fix = math.exp(m - new)
        total *= fix
        for p in range(PATCH):
            acc[p] *= fix
        for j in range(count):
            w = math.exp(ss[y, j] - new)
            total += w
            for p in range(PATCH):
                acc[p] += w * vs[j, x + p * TILE]
        m = new
        cuda.syncthreads()
    if row < n:
        for p in range(PATCH):
            o[h, row, x + p * TILE] = acc[p] / total if length > 0 else np.float32(0)
        if x == 0:
            L[h, row] = m + math.log(total) if length > 0 else np.float32(-math.inf)
