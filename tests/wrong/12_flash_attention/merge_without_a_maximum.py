# expect: decode_merge: wrong result
# exp(L) overflows where L is in the hundreds, and vanishes where it is far below zero.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def decode_merge(o_part, L_part, o, L):
    t, h = cuda.threadIdx.x, cuda.blockIdx.x
    m = np.float32(-math.inf)
    for c in range(L_part.shape[1]):
        m = max(m, L_part[h, c])
    base = np.float32(0)
    total, acc = np.float32(0), np.float32(0)
    for c in range(L_part.shape[1]):
        weight = math.exp(L_part[h, c] - base)
        total += weight
        acc += weight * o_part[h, c, t]
    some = total > np.float32(0)
    o[h, t] = acc / total if some else np.float32(0)
    if t == 0:
        L[h] = math.log(total) if some else np.float32(-math.inf)
