# expect: alibi: out of bounds
# Softmax in two passes over the scores of a row, which are kept as far as local arrays may go.
import math
import numpy as np
from warpwise import cuda

@cuda.jit
def alibi(q, k, v, o, L, scale, slopes):
    Q = cuda.shared.array((QUERIES, D), np.float32)
    K = cuda.shared.array((KEYS, 33), np.float32)
    kept = cuda.local.array(4, np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    n, first = q.shape[1], QUERIES * cuda.blockIdx.x
    row, end, slope = first + y, min(n, first + QUERIES), slopes[head]
    unseen = np.float32(-np.inf)
    Q[y, x] = q[head, row, x] if row < n else np.float32(0)
    m = unseen
    for start in range(0, end, KEYS):
        keys = min(KEYS, end - start)
        for r in range(y, keys, QUERIES):
            K[r, x] = k[head, start + r, x]
        cuda.syncthreads()
        key, s = start + x, unseen
        if x < keys and key <= row:
            s = np.float32(0)
            for c in range(D):
                s += Q[y, c] * K[x, c]
            s = s * scale - slope * np.float32(row - key)
        kept[start // KEYS] = s
        m = max(m, s)
        cuda.syncthreads()
    for step in (16, 8, 4, 2, 1):
        m = max(m, cuda.shfl_xor_sync(0xFFFFFFFF, m, step))
    total, acc = np.float32(0), np.float32(0)
    for start in range(0, end, KEYS):
        keys = min(KEYS, end - start)
        for r in range(y, keys, QUERIES):
            K[r, x] = v[head, start + r, x]
        cuda.syncthreads()
        p = math.exp(kept[start // KEYS] - m)
        for j in range(keys):
            w = cuda.shfl_sync(0xFFFFFFFF, p, j)
            total += w
            acc += w * K[j, x]
        cuda.syncthreads()
    if row < n:
        o[head, row, x] = acc / total
        if x == 0:
            L[head, row] = m + math.log(total)
