# expect: cross_entropy: wrong result
# m has its new value already when its own sum is corrected, so the factor is 1.
import math

import numpy as np

from warpwise import cuda

MASKED = np.float32(-math.inf)


@cuda.jit
def cross_entropy(logits, labels, lse, loss):
    row = 4 * cuda.blockIdx.x + cuda.threadIdx.x // 32
    if row < logits.shape[0]:
        m, total = MASKED, np.float32(0)
        for col in range(cuda.laneid, logits.shape[1], 32):
            v = logits[row, col]
            if v > m:
                total = total * math.exp(m - v) + np.float32(1)
                m = v
            elif v > MASKED:
                total += math.exp(v - m)
        for d in (16, 8, 4, 2, 1):
            other_m = cuda.shfl_xor_sync(0xFFFFFFFF, m, d)
            other_total = cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
            top = max(m, other_m)
            base = top if top > MASKED else np.float32(0)
            m = top
            total = total * math.exp(m - base) + other_total * math.exp(other_m - base)
        if cuda.laneid == 0:
            label = labels[row]
            row_lse = m + math.log(total)
            row_loss = np.float32(0)
            if label != -100:
                row_loss = row_lse - logits[row, label]
            lse[row] = row_lse
            loss[row] = row_loss
