# expect: dk_dv: wrong result
# Rows beyond the end are zeros, but exp(0 - L) need not be finite.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def dk_dv(q, k, v, do, L, delta, scale, dk, dv):
    k_tile = cuda.shared.array((TILE, PITCH), np.float32)
    v_tile = cuda.shared.array((TILE, PITCH), np.float32)
    q_tile = cuda.shared.array((TILE, PITCH), np.float32)
    do_tile = cuda.shared.array((TILE, PITCH), np.float32)
    p_tile = cuda.shared.array((TILE, TILE), np.float32)  # a row for each key
    ds_tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    key = TILE * cuda.blockIdx.x + y
    load_tile(k_tile, k, TILE * cuda.blockIdx.x)
    load_tile(v_tile, v, TILE * cuda.blockIdx.x)
    dk_0 = dk_1 = dv_0 = dv_1 = np.float32(0)
    for first in range(0, q.shape[0], TILE):
        load_tile(q_tile, q, first)
        load_tile(do_tile, do, first)
        cuda.syncthreads()
        s = dp = np.float32(0)
        for c in range(WIDTH):
            s += q_tile[x, c] * k_tile[y, c]
            dp += do_tile[x, c] * v_tile[y, c]
        p = ds = np.float32(0)
        query = min(first + x, q.shape[0] - 1)
        p = math.exp(scale * s - L[query])
        ds = p * (dp - delta[query])
        p_tile[y, x] = p
        ds_tile[y, x] = ds
        cuda.syncthreads()
        for i in range(TILE):
            dv_0 += p_tile[y, i] * do_tile[i, x]
            dv_1 += p_tile[y, i] * do_tile[i, x + TILE]
            dk_0 += ds_tile[y, i] * q_tile[i, x]
            dk_1 += ds_tile[y, i] * q_tile[i, x + TILE]
        cuda.syncthreads()
    if key < k.shape[0]:
        dv[key, x] = dv_0
        dv[key, x + TILE] = dv_1
        dk[key, x] = scale * dk_0
        dk[key, x + TILE] = scale * dk_1
