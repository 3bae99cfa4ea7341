# expect: flash_rows: wrong result
# Where all scores are far below 0, their exponentials vanish against a maximum of 0.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def flash_rows(q, k, v, o, L, scale):
    i = cuda.grid(1)
    row = cuda.local.array(WIDTH, np.float32)
    acc = cuda.local.array(WIDTH, np.float32)
    if i < q.shape[0]:
        for e in range(WIDTH):
            row[e] = q[i, e]
            acc[e] = np.float32(0)
        m, total = np.float32(0), np.float32(0)
        for j in range(k.shape[0]):
            s = np.float32(0)
            for e in range(WIDTH):
                s += row[e] * k[j, e]
            s *= scale
            above = max(m, s)
            fix, p = math.exp(m - above), math.exp(s - above)
            total = total * fix + p
            for e in range(WIDTH):
                acc[e] = acc[e] * fix + p * v[j, e]
            m = above
        for e in range(WIDTH):
            o[i, e] = acc[e] / total
        L[i] = m + math.log(total)
