# expect: decode_merge: wrong result
# The plain average of the chunks' outputs.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def decode_merge(o_part, L_part, o, L):
    t, h = cuda.threadIdx.x, cuda.blockIdx.x
    m = np.float32(-math.inf)
    for c in range(L_part.shape[1]):
        m = max(m, L_part[h, c])
    base = m if m > np.float32(-math.inf) else np.float32(0)
    total, acc = np.float32(0), np.float32(0)
    for c in range(L_part.shape[1]):
        weight = math.exp(L_part[h, c] - base)
        total += weight
        acc += o_part[h, c, t]
    some = total > np.float32(0)
    o[h, t] = acc / np.float32(L_part.shape[1]) if some else np.float32(0)
    if t == 0:
        L[h] = m + math.log(total) if some else np.float32(-math.inf)
