# expect: backward: over budget: op_fp64
# 0.0 is float64, and so are both sums.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def backward(q, k, v, do, L, delta, scale, offset, dq, dk, dv):
    k_tile = cuda.shared.array((TILE, PITCH), np.float32)
    v_tile = cuda.shared.array((TILE, PITCH), np.float32)
    q_tile = cuda.shared.array((TILE, PITCH), np.float32)
    do_tile = cuda.shared.array((TILE, PITCH), np.float32)
    p_tile = cuda.shared.array((TILE, TILE), np.float32)  # a row for each key
    ds_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    first_key = TILE * cuda.blockIdx.x
    key = first_key + y
    load_tile(k_tile, k[head], first_key)
    load_tile(v_tile, v[head], first_key)
    dk_0 = dk_1 = dv_0 = dv_1 = np.float32(0)
    for first in range(max(0, first_key - offset) // TILE * TILE, q.shape[1], TILE):
        load_tile(q_tile, q[head], first)
        load_tile(do_tile, do[head], first)
        cuda.syncthreads()
        s = dp = 0.0
        for c in range(WIDTH):
            s += q_tile[x, c] * k_tile[y, c]
            dp += do_tile[x, c] * v_tile[y, c]
        query = first + x
        p = ds = np.float32(0)
        if query < q.shape[1] and key < k.shape[1] and key <= query + offset:
            p = math.exp(scale * s - L[head, query])
            ds = p * (dp - delta[head, query])
        p_tile[y, x] = p
        ds_tile[y, x] = ds
        cuda.syncthreads()
        dq_0 = dq_1 = np.float32(0)
        for i in range(TILE):
            dv_0 += p_tile[y, i] * do_tile[i, x]
            dv_1 += p_tile[y, i] * do_tile[i, x + TILE]
            dk_0 += ds_tile[y, i] * q_tile[i, x]
            dk_1 += ds_tile[y, i] * q_tile[i, x + TILE]
            dq_0 += ds_tile[i, y] * k_tile[i, x]
            dq_1 += ds_tile[i, y] * k_tile[i, x + TILE]
        if first + y < q.shape[1]:
            cuda.atomic.add(dq, (head, first + y, x), scale * dq_0)
            cuda.atomic.add(dq, (head, first + y, x + TILE), scale * dq_1)
        cuda.syncthreads()
    if key < k.shape[1]:
        dv[head, key, x] = dv_0
        dv[head, key, x + TILE] = dv_1
        dk[head, key, x] = scale * dk_0
        dk[head, key, x + TILE] = scale * dk_1
