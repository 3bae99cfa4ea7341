# expect: residual_layernorm: over budget: local_bytes_per_thread
# Each thread keeps its elements where they stand in the row, in a local array with room for all of it.
import math

import numpy as np

from warpwise import cuda

EPS = 1e-5
MAX_COLS = 1024
THREADS = 128


@cuda.jit
def residual_layernorm(x, residual, weight, bias, summed, out, mean, rstd):
    mine = cuda.local.array(MAX_COLS, np.float32)
    counts = cuda.shared.array(THREADS, np.float32)
    means = cuda.shared.array(THREADS, np.float32)
    m2s = cuda.shared.array(THREADS, np.float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    count, middle, m2 = np.float32(0), np.float32(0), np.float32(0)
    for col in range(t, x.shape[1], THREADS):
        h = x[row, col] + residual[row, col]
        summed[row, col] = h
        mine[col] = h
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
    scale = np.float32(1) / math.sqrt(m2s[0] / counts[0] + np.float32(EPS))
    for col in range(t, x.shape[1], THREADS):
        out[row, col] = (mine[col] - middle) * scale * weight[col] + bias[col]
    if t == 0:
        mean[row] = middle
        rstd[row] = scale
