"""A thread takes an element of each channel, the grid strides over the array, and lane 0 tells the others where the row lies."""

import math
from math import ceil

import numpy as np

from warpwise import cuda


def branch_efficiency(taken, n_a, n_b):
    active = instructions = 0
    for w in range(ceil(len(taken) / 32)):
        ways = [bool(way) for way in taken[32 * w : 32 * (w + 1)]]
        if any(ways):
            instructions += n_a
            active += n_a * ways.count(True)
        if not all(ways):
            instructions += n_b
            active += n_b * ways.count(False)
    return active / instructions / 32


@cuda.jit
def stereo(x, y, a, b):
    left = 2 * cuda.grid(1)
    right = left + 1
    if left < x.size:
        y[left] = left_filter(x[left], a)
    if right < x.size:
        y[right] = right_filter(x[right], b)


@cuda.jit
def settle(x, y, up, down, steps):
    i = cuda.grid(1)
    if i < y.size:
        share, v = down, abs(x[i])
        if x[i] < 0:
            share = up
        k = 0
        while k < steps:
            v -= share * v * v
            k += 1
        y[i] = math.copysign(v, x[i])


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    inside = i < x.size
    v = np.float32(0)
    if inside:
        v = x[i]
    v += cuda.shfl_down_sync(ALL, v, 1)
    v += cuda.shfl_down_sync(ALL, v, 2)
    v += cuda.shfl_down_sync(ALL, v, 4)
    v += cuda.shfl_down_sync(ALL, v, 8)
    v += cuda.shfl_down_sync(ALL, v, 16)
    if inside and i % 32 == 0:
        out[i // 32] = v


@cuda.jit
def row_sums(values, offsets, out):
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    row = cuda.blockIdx.x * 4 + warp
    if row < out.shape[0]:
        edge = np.int64(0)
        if lane < 2:
            edge = offsets[row + lane]
        first = cuda.shfl_sync(ALL, edge, 0)
        last = cuda.shfl_sync(ALL, edge, 1)
        total = np.float32(0)
        for piece in range(first, last, 32):
            if piece + lane < last:
                total += values[piece + lane]
        half = 16
        while half:
            total += cuda.shfl_xor_sync(ALL, total, half)
            half //= 2
        if lane == 31:
            out[row] = total
