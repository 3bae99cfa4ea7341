# expect: residual_layernorm: wrong result
# names: mean of squares and the square of a mean
# Mean of the squares minus square of the mean: at a mean of 10,000 all digits cancel.
import math

import numpy as np

from warpwise import cuda

EPS = 1e-5
THREADS = 128
MAX_COLS = 1024


@cuda.jit
def residual_layernorm(x, residual, weight, bias, summed, out, mean, rstd):
    row_sums = cuda.shared.array(MAX_COLS, np.float32)
    counts = cuda.shared.array(THREADS, np.float32)
    means = cuda.shared.array(THREADS, np.float32)
    m2s = cuda.shared.array(THREADS, np.float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    count, middle, m2 = np.float32(0), np.float32(0), np.float32(0)
    for col in range(t, x.shape[1], THREADS):
        h = x[row, col] + residual[row, col]
        summed[row, col] = h
        row_sums[col] = h
        count += np.float32(1)
        middle += h
        m2 += h * h
    counts[t], means[t], m2s[t] = count, middle, m2
    half = THREADS // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            u = t + half
            counts[t] += counts[u]
            means[t] += means[u]
            m2s[t] += m2s[u]
        half //= 2
    cuda.syncthreads()
    middle = means[0] / counts[0]
    scale = np.float32(1) / math.sqrt(max(m2s[0] / counts[0] - middle * middle, np.float32(0)) + np.float32(EPS))
    for col in range(t, x.shape[1], THREADS):
        out[row, col] = (row_sums[col] - middle) * scale * weight[col] + bias[col]
    if t == 0:
        mean[row] = middle
        rstd[row] = scale
