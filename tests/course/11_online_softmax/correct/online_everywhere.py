# Streams everywhere: one device function merges states, in lanes, across lanes and across warps.
import math

import numpy as np

from warpwise import cuda

MASKED = np.float32(-math.inf)


def running_state(row):
    m, d, found = -math.inf, 0.0, []
    for x in row:
        new = max(m, x)
        if new > -math.inf:
            d = d * math.exp(m - new) + math.exp(x - new)
        m = new
        found.append((m, d))
    found = np.array(found).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def merge(m_a, d_a, m_b, d_b):
    smaller = -np.abs(np.nan_to_num(m_a, neginf=-1e9) - np.nan_to_num(m_b, neginf=-1e9))
    first = m_a >= m_b
    return np.maximum(m_a, m_b), np.where(first, d_a, d_b) + np.where(first, d_b, d_a) * np.exp(smaller)


@cuda.jit(device=True)
def joined(m_a, d_a, m_b, d_b):
    m = max(m_a, m_b)
    if m > MASKED:
        return m, d_a * math.exp(m_a - m) + d_b * math.exp(m_b - m)
    return m, np.float32(0)


@cuda.jit(device=True)
def of_warp(m, d):
    for step in (1, 2, 4, 8, 16):
        other_m = cuda.shfl_xor_sync(0xFFFFFFFF, m, step)
        other_d = cuda.shfl_xor_sync(0xFFFFFFFF, d, step)
        m, d = joined(m, d, other_m, other_d)
    return m, d


@cuda.jit
def softmax_twice(x, out):
    ms = cuda.shared.array(4, np.float32)
    ds = cuda.shared.array(4, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    m, d = MASKED, np.float32(0)
    for col in range(t, x.shape[1], 128):
        m, d = joined(m, d, x[row, col], np.float32(1))
    m, d = of_warp(m, d)
    if cuda.laneid == 0:
        ms[t // 32] = m
        ds[t // 32] = d
    cuda.syncthreads()
    m, d = ms[0], ds[0]
    for w in range(1, 4):
        m, d = joined(m, d, ms[w], ds[w])
    for col in range(t, x.shape[1], 128):
        v = x[row, col]
        out[row, col] = math.exp(v - m) / d if v > MASKED else np.float32(0)


@cuda.jit
def softmax_once(x, out):
    row = 4 * cuda.blockIdx.x + cuda.threadIdx.x // 32
    if row < x.shape[0]:
        kept = cuda.local.array(8, np.float32)
        m, d = MASKED, np.float32(0)
        for k in range(8):
            col = 32 * k + cuda.laneid
            kept[k] = x[row, col] if col < x.shape[1] else MASKED
            m, d = joined(m, d, kept[k], np.float32(1))
        m, d = of_warp(m, d)
        for k in range(8):
            col = 32 * k + cuda.laneid
            if col < x.shape[1]:
                out[row, col] = math.exp(kept[k] - m) / d if kept[k] > MASKED else np.float32(0)


@cuda.jit
def cross_entropy(logits, labels, lse, loss):
    row = 4 * cuda.blockIdx.x + cuda.threadIdx.x // 32
    if row >= logits.shape[0]:
        return
    label = labels[row]
    m, d, mine = MASKED, np.float32(0), np.float32(0)
    for col in range(cuda.laneid, logits.shape[1], 32):
        v = logits[row, col]
        m, d = joined(m, d, v, np.float32(1))
        if col == label:
            mine = v
    m, d = of_warp(m, d)
    for step in (16, 8, 4, 2, 1):
        mine += cuda.shfl_down_sync(0xFFFFFFFF, mine, step)
    if cuda.laneid == 0:
        lse[row] = m + math.log(d)
        loss[row] = (m - mine) + math.log(d) if label >= 0 else np.float32(0)
