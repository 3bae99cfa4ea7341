# expect: softmax_twice: over budget: op_fp64
# 0.0 is float64, and so is the sum that begins with it.
import math

import numpy as np

from warpwise import cuda

MASKED = np.float32(-math.inf)


@cuda.jit
def softmax_twice(x, out):
    ms = cuda.shared.array(128, np.float32)
    ds = cuda.shared.array(128, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    m, d = MASKED, 0.0
    for col in range(t, x.shape[1], 128):
        v = x[row, col]
        if v > m:
            d = d * math.exp(m - v) + np.float32(1)
            m = v
        elif v > MASKED:
            d += math.exp(v - m)
    ms[t], ds[t] = m, d
    cuda.syncthreads()
    for k in range(128):
        m = max(m, ms[k])
    total = 0.0
    for k in range(128):
        if ds[k] > np.float32(0):
            total += ds[k] * math.exp(ms[k] - m)
    for col in range(t, x.shape[1], 128):
        result = np.float32(0)
        if total > np.float32(0):
            result = math.exp(x[row, col] - m) / total
        out[row, col] = result
