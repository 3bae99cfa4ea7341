# expect: alibi: out of bounds
# The last tile is read whole, also where n ends within it.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def alibi(q, k, v, o, L, scale, slopes):
    Q = cuda.shared.array((QUERIES, D), np.float32)
    K = cuda.shared.array((KEYS, 33), np.float32)
    V = cuda.shared.array((KEYS, D), np.float32)
    S = cuda.shared.array((QUERIES, KEYS), np.float32)
    P = cuda.shared.array((QUERIES, KEYS), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    n, first = q.shape[1], QUERIES * cuda.blockIdx.x
    row, end, slope = first + y, min(n, first + QUERIES), slopes[head]
    unseen = np.float32(-np.inf)
    Q[y, x] = q[head, row, x] if row < n else np.float32(0)
    m, total, acc = unseen, np.float32(0), np.float32(0)
    for start in range(0, end, KEYS):
        keys = min(KEYS, end - start)
        for r in range(y, KEYS, QUERIES):
            K[r, x] = k[head, start + r, x]
            V[r, x] = v[head, start + r, x]
        cuda.syncthreads()
        key, s = start + x, unseen
        if x < keys and key <= row:
            s = np.float32(0)
            for c in range(D):
                s += Q[y, c] * K[x, c]
            s = s * scale - slope * np.float32(row - key)
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
