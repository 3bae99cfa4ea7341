"""Rounding by arithmetic in float64, early returns, strides over the grid, sums in several parts, loops over rows."""

import math

import numpy as np

from warpwise import cuda


def rounded_bits(bits, drop):
    low = (bits & np.uint32(0x7FFFFFFF)).astype(np.int64)
    step = 2**drop
    nearest = (np.rint(low / step) * step).astype(np.int64)
    nan = low // step * step | 0x00400000
    return (np.where(low > 0x7F800000, nan, nearest) + (bits & np.uint32(0x80000000))).astype(np.uint32)


@cuda.jit
def blend(a, b, t, y):
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        of_b = t * b[i]
        keep = np.float32(1) - t
        y[i] = keep * a[i] + of_b


@cuda.jit
def dot_columns(w, m, y):
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if col >= y.size:
        return
    even, odd = np.float32(0), np.float32(0)
    k = 0
    while k + 1 < w.size:
        even += np.float32(w[k]) * m[k, col]
        odd += np.float32(w[k + 1]) * m[k + 1, col]
        k += 2
    if k < w.size:
        even += np.float32(w[k]) * m[k, col]
    y[col] = even + odd


@cuda.jit
def standardise(x, y, slope):
    col = cuda.grid(1)
    if col >= x.shape[1]:
        return
    share = np.float32(1) / np.float32(x.shape[0])
    mean = np.float32(0)
    for row in range(x.shape[0]):
        mean += share * x[row, col]
    variance = np.float32(1e-5)
    for row in range(x.shape[0]):
        variance += share * (x[row, col] - mean) ** 2
    root, steep = math.sqrt(variance), np.float32(slope)
    for row in range(x.shape[0]):
        v = (x[row, col] - mean) / root
        y[row, col] = max(v, np.float32(0)) + steep * min(v, np.float32(0))


def quantise(x):
    rows, scales = [], []
    for row in x:
        largest = np.max(np.abs(row))
        scales.append(largest / np.float32(127) if largest else np.float32(1))
        rows.append([round(float(value)) for value in row / scales[-1]])
    return np.array(rows, np.int8), np.array(scales)


@cuda.jit
def quantised_matmul(qa, sa, qb, sb, out):
    col, row = cuda.grid(2)
    if row >= out.shape[0] or col >= out.shape[1]:
        return
    total = np.int64(0)
    for k in range(qb.shape[0]):
        total += qa[row, k] * np.int32(qb[k, col])
    out[row, col] = np.float32(total) * (sa[row] * sb[col])
