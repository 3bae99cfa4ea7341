# expect: decode_partial: over budget: shared_bank_conflicts
# Rows of 32 keys without padding: the lanes of a warp read one bank.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def decode_partial(q, k, v, o_part, L_part, scale):
    ks = cuda.shared.array((CHUNK, D), np.float32)
    ps = cuda.shared.array(CHUNK, np.float32)
    c, h, t = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x
    first = c * CHUNK
    count = max(0, min(CHUNK, k.shape[1] - first))
    mine = q[h, t % D]
    for r in range(t // D, count, CHUNK // D):
        ks[r, t % D] = k[h, first + r, t % D] * mine
    cuda.syncthreads()
    s = np.float32(-math.inf)
    if t < count:
        s = np.float32(0)
        for e in range(D):
            s += ks[t, e]
        s *= scale
    ps[t] = s
    cuda.syncthreads()
    if t < D:
        m = np.float32(-math.inf)
        for j in range(count):
            m = max(m, ps[j])
        total = np.float32(0)
        a = np.float32(0)
        for j in range(count):
            w = math.exp(ps[j] - m)
            total += w
            a += w * v[h, first + j, t]
        if count == 0:
            o_part[h, c, t] = 0
            if t == 0:
                L_part[h, c] = -math.inf
        else:
            o_part[h, c, t] = a / total
            if t == 0:
                L_part[h, c] = m + math.log(total)
