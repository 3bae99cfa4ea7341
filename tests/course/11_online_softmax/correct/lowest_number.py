# The maximum begins at the least finite float32, so no infinity is ever subtracted from another.
import math

import numpy as np

from warpwise import cuda

LOWEST = np.float32(-3.4028234663852886e38)


def running_state(row):
    m, d = np.full_like(row, -np.inf), np.zeros_like(row)
    top, total = None, 0.0
    for j, x in enumerate(row):
        if top is None and x > -np.inf:
            top, total = x, 1.0
        elif top is not None:
            total = total + np.exp(x - top) if x <= top else 1 + total * np.exp(top - x)
            top = max(top, x)
        if top is not None:
            m[j], d[j] = top, total
    return m, d


def merge(m_a, d_a, m_b, d_b):
    m, d = np.full_like(m_a, -np.inf), np.zeros_like(d_a)
    for i in range(m.size):
        for part, total in ((m_a[i], d_a[i]), (m_b[i], d_b[i])):
            if total > 0:
                top = max(m[i], part)
                d[i] = d[i] * math.exp(m[i] - top) + total * math.exp(part - top)
                m[i] = top
    return m, d


@cuda.jit
def softmax_twice(x, out):
    ms = cuda.shared.array(128, np.float32)
    ds = cuda.shared.array(128, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    m, d = LOWEST, np.float32(0)
    for col in range(t, x.shape[1], 128):
        v = x[row, col]
        top = max(m, v)
        d = d * math.exp(m - top) + math.exp(v - top)
        m = top
    ms[t] = m
    ds[t] = d
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            top = max(ms[t], ms[t + half])
            ds[t] = ds[t] * math.exp(ms[t] - top) + ds[t + half] * math.exp(ms[t + half] - top)
            ms[t] = top
        cuda.syncthreads()
        half //= 2
    scale = np.float32(1) / max(ds[0], np.float32(1e-30))
    for col in range(t, x.shape[1], 128):
        out[row, col] = math.exp(x[row, col] - ms[0]) * scale


@cuda.jit
def softmax_once(x, out):
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    row = 4 * cuda.blockIdx.x + warp
    if row < x.shape[0]:
        kept = cuda.local.array(8, np.float32)
        m, total = LOWEST, np.float32(0)
        for k in range(8):
            kept[k] = LOWEST
            if 32 * k + lane < x.shape[1]:
                kept[k] = x[row, 32 * k + lane]
            m = max(m, kept[k])
        for d in (16, 8, 4, 2, 1):
            m = max(m, cuda.shfl_down_sync(0xFFFFFFFF, m, d))
        m = cuda.shfl_sync(0xFFFFFFFF, m, 0)
        for k in range(8):
            if 32 * k + lane < x.shape[1]:
                kept[k] = math.exp(kept[k] - m)
                total += kept[k]
        for d in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
        total = max(cuda.shfl_sync(0xFFFFFFFF, total, 0), np.float32(1e-30))
        for k in range(8):
            if 32 * k + lane < x.shape[1]:
                out[row, 32 * k + lane] = kept[k] / total


@cuda.jit
def cross_entropy(logits, labels, lse, loss):
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    row = 4 * cuda.blockIdx.x + warp
    if row < logits.shape[0]:
        m, d = LOWEST, np.float32(0)
        for col in range(lane, logits.shape[1], 32):
            v = logits[row, col]
            top = max(m, v)
            d = d * math.exp(m - top) + math.exp(v - top)
            m = top
        top = m
        for step in (16, 8, 4, 2, 1):
            top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, step))
        d *= math.exp(m - top)
        for step in (16, 8, 4, 2, 1):
            d += cuda.shfl_xor_sync(0xFFFFFFFF, d, step)
        if lane == 0:
            label, log_sum_exp = labels[row], top + math.log(d)
            lse[row] = log_sum_exp
            if label == -100:
                loss[row] = np.float32(0)
            else:
                loss[row] = log_sum_exp - logits[row, label]
