"""A loop over numbers, device functions with types of their own, sums of lanes in another order."""

import math

import numba
import numpy as np

from warpwise import cuda


def rounded_one(pattern, drop):
    sign, low = pattern & 0x80000000, pattern & 0x7FFFFFFF
    below, rest = low >> drop << drop, low % (1 << drop)
    if low > 0x7F800000:
        return sign | below | 1 << 22
    up = rest > 1 << (drop - 1) or (rest == 1 << (drop - 1) and (below >> drop) % 2 == 1)
    return sign | below + (up << drop)


def rounded_bits(bits, drop):
    return np.array([rounded_one(int(pattern), drop) for pattern in bits], dtype=np.uint32)


@cuda.jit(device=True)
def mixed(a, b, t):
    return numba.float32(a) + t * (numba.float32(b) - numba.float32(a))


@cuda.jit
def blend(a, b, t, y):
    i = cuda.blockIdx.x * 128 + cuda.threadIdx.x
    if i < a.shape[0]:
        y[i] = mixed(a[i], b[i], t)


@cuda.jit
def dot_columns(w, m, y):
    col = cuda.grid(1)
    if col < m.shape[1]:
        total = numba.float32(0)
        for k in range(m.shape[0] - 1, -1, -1):
            wide = numba.float32(m[k, col])
            total += wide * w[k]
        y[col] = total


@cuda.jit
def standardise(x, y, slope):
    col = cuda.grid(1)
    if col < x.shape[1]:
        n = numba.float32(x.shape[0])
        zero = x[0, col] - x[0, col]
        first = zero
        for row in range(x.shape[0]):
            first += x[row, col] / n
        second = zero
        for row in range(x.shape[0]):
            second += (x[row, col] - first) * (x[row, col] - first) / n
        for row in range(x.shape[0]):
            v = (x[row, col] - first) / math.sqrt(second + numba.float32(0.00001))
            y[row, col] = v if v >= zero else v * numba.float32(slope)


def quantise(x):
    result, scales = np.zeros(x.shape, np.int8), np.ones(len(x))
    for i in range(x.shape[0]):
        largest = np.max(np.abs(x[i]))
        if largest > 0:
            scales[i] = largest / np.float32(127)
            result[i] = np.round(x[i] / np.float32(scales[i]))
    return result, scales


@cuda.jit
def quantised_matmul(qa, sa, qb, sb, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = 0
        for k in range(qa.shape[1]):
            total += numba.int32(qa[row, k]) * numba.int32(qb[k, col])
        scaled = numba.float32(total) * sb[col]
        out[row, col] = scaled * sa[row]
