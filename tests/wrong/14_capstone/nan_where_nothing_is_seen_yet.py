# expect: sliding_window: wrong result
# In a tile in which a row sees no key, minus infinity is subtracted from itself.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def sliding_window(q, k, v, o, L, scale, window):
    Q = cuda.shared.array((QUERIES, D), np.float32)
    K = cuda.shared.array((KEYS, 33), np.float32)
    V = cuda.shared.array((KEYS, D), np.float32)
    S = cuda.shared.array((QUERIES, KEYS), np.float32)
    P = cuda.shared.array((QUERIES, KEYS), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    n, first = q.shape[1], QUERIES * cuda.blockIdx.x
    row, end = first + y, min(n, first + QUERIES)
    unseen = np.float32(-np.inf)
    Q[y, x] = q[head, row, x] if row < n else np.float32(0)
    m, total, acc = unseen, np.float32(0), np.float32(0)
    begin = max(0, first - window + 1) // KEYS * KEYS
    for start in range(begin, end, KEYS):
        keys = min(KEYS, end - start)
        for r in range(y, keys, QUERIES):
            K[r, x] = k[head, start + r, x]
            V[r, x] = v[head, start + r, x]
        cuda.syncthreads()
        key, s = start + x, unseen
        if x < keys and 0 <= row - key < window:
            s = np.float32(0)
            for c in range(D):
                s += Q[y, c] * K[x, c]
            s *= scale
        S[y, x] = s
        cuda.syncthreads()
        above = m
        for j in range(keys):
            above = max(above, S[y, j])
        p, fix = math.exp(s - above), math.exp(m - above)
        P[y, x] = p
        cuda.syncthreads()
        m, total, acc = above, total * fix, acc * fix
        for j in range(keys):
            total += P[y, j]
            acc += P[y, j] * V[j, x]
        cuda.syncthreads()
    if row < n:
        o[head, row, x] = acc / total
        if x == 0:
            L[head, row] = m + math.log(total)
