# expect: residual_layernorm: over budget: global_load_requests
# One thread does the whole row, one element after another, and 127 wait.
import math

import numpy as np

from warpwise import cuda

EPS = 1e-5
MAX_COLS = 1024


@cuda.jit
def residual_layernorm(x, residual, weight, bias, summed, out, mean, rstd):
    row_sums = cuda.shared.array(MAX_COLS, np.float32)
    row = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        count, middle, m2 = np.float32(0), np.float32(0), np.float32(0)
        for col in range(x.shape[1]):
            h = x[row, col] + residual[row, col]
            summed[row, col] = h
            row_sums[col] = h
            count += np.float32(1)
            delta = h - middle
            middle += delta / count
            m2 += delta * (h - middle)
        scale = np.float32(1) / math.sqrt(m2 / count + np.float32(EPS))
        for col in range(x.shape[1]):
            out[row, col] = (row_sums[col] - middle) * scale * weight[col] + bias[col]
        mean[row] = middle
        rstd[row] = scale
