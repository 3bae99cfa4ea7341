# expect: soft_cap: over budget: shared_bytes_per_block
# Softmax in two passes over a whole row of scores, which fills shared memory and ends with it.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def soft_cap(q, k, v, o, L, scale, cap):
    Q = cuda.shared.array((QUERIES, D), np.float32)
    T = cuda.shared.array((KEYS, 33), np.float32)
    S = cuda.shared.array((QUERIES, 256), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    n, first = q.shape[1], QUERIES * cuda.blockIdx.x
    row, end = first + y, min(q.shape[1], first + QUERIES)
    Q[y, x] = q[head, row, x] if row < n else np.float32(0)
    for start in range(0, end, KEYS):
        for r in range(y, KEYS, QUERIES):
            T[r, x] = k[head, start + r, x] if start + r < n else np.float32(0)
        cuda.syncthreads()
        s = np.float32(-np.inf)
        if start + x <= row:
            s = np.float32(0)
            for c in range(D):
                s += Q[y, c] * T[x, c]
            s = cap * math.tanh(s * scale / cap)
        S[y, start + x] = s
        cuda.syncthreads()
    m = np.float32(-np.inf)
    for j in range(end):
        m = max(m, S[y, j])
    cuda.syncthreads()
    for start in range(0, end, KEYS):
        S[y, start + x] = math.exp(S[y, start + x] - m)
    total, acc = np.float32(0), np.float32(0)
    for start in range(0, end, KEYS):
        for r in range(y, KEYS, QUERIES):
            T[r, x] = v[head, start + r, x] if start + r < n else np.float32(0)
        cuda.syncthreads()
        for j in range(KEYS):
            total += S[y, start + j]
            acc += S[y, start + j] * T[j, x]
        cuda.syncthreads()
    if row < n:
        o[head, row, x] = acc / total
        if x == 0:
            L[head, row] = m + math.log(total)
