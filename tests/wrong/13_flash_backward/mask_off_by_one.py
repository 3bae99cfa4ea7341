# expect: dq_rows: wrong result
# A query does not see the key on its own diagonal.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def dq_rows(q, k, v, do, L, delta, scale, offset, dq):
    k_tile = cuda.shared.array((TILE, PITCH), np.float32)
    v_tile = cuda.shared.array((TILE, PITCH), np.float32)
    q_tile = cuda.shared.array((TILE, PITCH), np.float32)
    do_tile = cuda.shared.array((TILE, PITCH), np.float32)
    ds_tile = cuda.shared.array((TILE, TILE), np.float32)  # a row for each query
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    first_query = TILE * cuda.blockIdx.x
    query = first_query + y
    load_tile(q_tile, q, first_query)
    load_tile(do_tile, do, first_query)
    dq_0 = dq_1 = np.float32(0)
    for first in range(0, min(k.shape[0], first_query + TILE + offset), TILE):
        load_tile(k_tile, k, first)
        load_tile(v_tile, v, first)
        cuda.syncthreads()
        s = dp = np.float32(0)
        for c in range(WIDTH):
            s += q_tile[y, c] * k_tile[x, c]
            dp += do_tile[y, c] * v_tile[x, c]
        key = first + x
        ds = np.float32(0)
        if query < q.shape[0] and key < k.shape[0] and key < query + offset:
            ds = math.exp(scale * s - L[query]) * (dp - delta[query])
        ds_tile[y, x] = ds
        cuda.syncthreads()
        for j in range(TILE):
            dq_0 += ds_tile[y, j] * k_tile[j, x]
            dq_1 += ds_tile[y, j] * k_tile[j, x + TILE]
        cuda.syncthreads()
    if query < q.shape[0]:
        dq[query, x] = scale * dq_0
        dq[query, x + TILE] = scale * dq_1
