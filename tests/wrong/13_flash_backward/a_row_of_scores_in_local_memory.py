# expect: dq_rows: over budget: local_bytes_per_thread
# Right, but each thread keeps a whole row of ds: all rows together are N x N.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def dq_rows(q, k, v, do, L, delta, scale, offset, dq):
    row = cuda.local.array(96, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    query = TILE * cuda.blockIdx.x + y
    if query < q.shape[0]:
        end = min(k.shape[0], query + offset + 1)
        for key in range(end):
            s = dp = np.float32(0)
            for c in range(WIDTH):
                s += q[query, c] * k[key, c]
                dp += do[query, c] * v[key, c]
            row[key] = math.exp(scale * s - L[query]) * (dp - delta[query])
        for c in range(x, WIDTH, TILE):
            total = np.float32(0)
            for key in range(end):
                total += row[key] * k[key, c]
            dq[query, c] = scale * total
