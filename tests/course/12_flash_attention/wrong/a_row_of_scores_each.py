# expect: flash_rows: over budget: local_bytes_per_thread
# Each thread keeps all scores of its query: N x N again, in local memory.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def flash_rows(q, k, v, o, L, scale):
    i = cuda.grid(1)
    scores = cuda.local.array(256, np.float32)
    acc = cuda.local.array(WIDTH, np.float32)
    if i < q.shape[0]:
        m, total = np.float32(-math.inf), np.float32(0)
        for e in range(WIDTH):
            acc[e] = np.float32(0)
        for j in range(k.shape[0]):
            scores[j] = np.float32(0)
        for e in range(WIDTH):
            query = q[i, e]
            for j in range(k.shape[0]):
                scores[j] += query * k[j, e] * scale
        for j in range(k.shape[0]):
            m = max(m, scores[j])
        for j in range(k.shape[0]):
            p = math.exp(scores[j] - m)
            total += p
            for e in range(WIDTH):
                acc[e] += p * v[j, e]
        for e in range(WIDTH):
            o[i, e] = acc[e] / total
        L[i] = m + math.log(total)
