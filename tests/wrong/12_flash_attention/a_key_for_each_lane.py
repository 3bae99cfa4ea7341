# expect: decode_partial: over budget: sectors_per_request_load
# Each lane reads its own key from global memory: a sector for each.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def decode_partial(q, k, v, o_part, L_part, scale):
    qs = cuda.shared.array(D, np.float32)
    ps = cuda.shared.array(CHUNK, np.float32)
    t, c, h = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
    first, keys = CHUNK * c, k.shape[1]
    if t < D:
        qs[t] = q[h, t]
    cuda.syncthreads()
    s = np.float32(0)
    for e in range(D):
        if first + t < keys:
            s += qs[e] * k[h, first + t, e]
    s = s * scale if first + t < keys else np.float32(-math.inf)
    ps[t] = s
    cuda.syncthreads()
    m = np.float32(-math.inf)
    for r in range(CHUNK):
        m = max(m, ps[r])
    base = m if m > np.float32(-math.inf) else np.float32(0)
    cuda.syncthreads()
    ps[t] = math.exp(s - base)
    cuda.syncthreads()
    if t < D:
        total, acc = np.float32(0), np.float32(0)
        for r in range(min(CHUNK, keys - first)):
            total += ps[r]
            acc += ps[r] * v[h, first + r, t]
        some = total > np.float32(0)
        o_part[h, c, t] = acc / total if some else np.float32(0)
        if t == 0:
            L_part[h, c] = m + math.log(total) if some else np.float32(-math.inf)
