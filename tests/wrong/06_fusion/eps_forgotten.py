# expect: residual_layernorm: wrong result
# EPS is left out: nobody sees it while the variance is large.
import math

import numpy as np

from warpwise import cuda

THREADS = 128
MAX_COLS = 1024


@cuda.jit(device=True)
def merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count = count_a + count_b
    if count == 0:
        return count, mean_a, m2_a
    delta, share = mean_b - mean_a, count_b / count
    return count, mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share


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
        delta = h - middle
        middle += delta / count
        m2 += delta * (h - middle)
    counts[t], means[t], m2s[t] = count, middle, m2
    half = THREADS // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            u = t + half
            counts[t], means[t], m2s[t] = merged(counts[t], means[t], m2s[t], counts[u], means[u], m2s[u])
        half //= 2
    cuda.syncthreads()
    middle = means[0]
    scale = np.float32(1) / math.sqrt(max(m2s[0] / counts[0], np.float32(1e-10)))
    for col in range(t, x.shape[1], THREADS):
        out[row, col] = (row_sums[col] - middle) * scale * weight[col] + bias[col]
    if t == 0:
        mean[row] = middle
        rstd[row] = scale
