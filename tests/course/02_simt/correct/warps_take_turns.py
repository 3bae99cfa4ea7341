"""Warps take turns on chunks, conditional expressions, butterflies, early returns and loops with while."""

import numpy as np
from numba import cuda as gpu

from warpwise import cuda


def branch_efficiency(taken, n_a, n_b):
    lanes = np.zeros(-(-taken.size // 32) * 32, dtype=bool)
    threads = lanes.copy()
    lanes[: taken.size] = taken
    threads[: taken.size] = True
    first = lanes.reshape(-1, 32).sum(axis=1)
    second = threads.reshape(-1, 32).sum(axis=1) - first
    issued = np.where(first > 0, n_a, 0) + np.where(second > 0, n_b, 0)
    return float((n_a * first + n_b * second).sum() / issued.sum() / 32)


@cuda.jit
def stereo(x, y, a, b):
    i = gpu.blockIdx.x * gpu.blockDim.x + gpu.threadIdx.x
    k = i // 64 * 64 + 2 * (i % 32)
    if i // 32 % 2 == 0:
        if k < x.shape[0]:
            y[k] = left_filter(x[k], a)
    else:
        k += 1
        if k < x.shape[0]:
            y[k] = right_filter(x[k], b)


@cuda.jit
def settle(x, y, up, down, steps):
    i = cuda.grid(1)
    if i >= x.size:
        return
    v = x[i]
    rate = (v >= 0) * down - (v < 0) * up
    for _ in range(steps):
        v -= rate * v * v
    y[i] = v


@cuda.jit(device=True)
def butterfly(v):
    d = 1
    while d < 32:
        v += cuda.shfl_xor_sync(ALL, v, d)
        d *= 2
    return v


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    warp = i // cuda.warpsize
    v = x[i] if i < x.size else np.float32(0)
    v = butterfly(v)
    if warp < out.size and cuda.threadIdx.x % 32 == 5:
        out[warp] = v


@cuda.jit
def row_sums(values, offsets, out):
    row = cuda.grid(1) // 32
    if row >= out.size:
        return
    k, end = offsets[row] + cuda.threadIdx.x % 32, offsets[row + 1]
    total = np.float32(0)
    while k < end:
        total += values[k]
        k += 32
    total = butterfly(total)
    if cuda.threadIdx.x % 32 == 0:
        out[row] = total
