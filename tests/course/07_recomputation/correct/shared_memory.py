"""Strides over the grid, slopes that wait, a search that gives up early, and rows that stay in shared memory where they fit."""

import math

import numpy as np

from warpwise import cuda

ROOM = 512  # columns of each of four warps' rows


@cuda.jit
def lean_forward(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        a = np.float32(1) / (np.float32(1) + math.exp(-x[i]))
        b = np.float32(1) / (np.float32(1) + math.exp(-a))
        out[i] = np.float32(1) / (np.float32(1) + math.exp(-b))


@cuda.jit(device=True)
def step(v):
    """A sigmoid and its slope."""
    e = math.exp(-v)
    s = np.float32(1) / (np.float32(1) + e)
    return s, e * s * s


@cuda.jit
def lean_backward(x, dout, dx):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        a, slope_a = step(x[i])
        b, slope_b = step(a)
        _, slope_c = step(b)
        dx[i] = slope_a * slope_b * slope_c * dout[i]


@cuda.jit
def gelu_backward(x, dout, dx):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v = x[i]
        square = v * v
        inner = np.float32(0.7978845608) + np.float32(0.0356774081) * square
        slope_of_inner = np.float32(0.7978845608) + np.float32(0.1070322243) * square
        t = math.tanh(v * inner)
        dx[i] = dout[i] * (np.float32(0.5) + np.float32(0.5) * t + np.float32(0.5) * v * slope_of_inner * (np.float32(1) - t * t))


def checkpoints(sizes, work, limit):
    found = {}

    def search(i, kept, checkpoints, again, twice):
        if checkpoints + again > limit:
            return
        if i == len(sizes):
            found[twice] = kept
            return
        search(i + 1, [*kept, True], checkpoints + sizes[i], 0, twice)
        search(i + 1, [*kept, False], checkpoints, again + sizes[i], twice + work[i])

    search(1, [True], sizes[0], 0, 0)
    return np.array(found[min(found)] if found else [False] * len(sizes))


@cuda.jit
def layernorm_backward(x, weight, dout, mean, rstd, dx):
    g_of = cuda.shared.array((4, ROOM), np.float32)
    n_of = cuda.shared.array((4, ROOM), np.float32)
    sums = cuda.shared.array((4, 2, 32), np.float32)
    w, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    row = 4 * cuda.blockIdx.x + w
    there = row < x.shape[0]
    sum_g, sum_gn, r = np.float32(0), np.float32(0), np.float32(0)
    if there:
        m = mean[row]
        r = rstd[row]
        for col in range(lane, x.shape[1], 32):
            g = dout[row, col] * weight[col]
            n = (x[row, col] - m) * r
            sum_g += g
            sum_gn += g * n
            g_of[w, col] = g
            n_of[w, col] = n
    sums[w, 0, lane] = sum_g
    sums[w, 1, lane] = sum_gn
    cuda.syncthreads()
    mean_g, mean_gn = np.float32(0), np.float32(0)
    for k in range(32):
        mean_g += sums[w, 0, k]
        mean_gn += sums[w, 1, k]
    if there:
        share = np.float32(1) / np.float32(x.shape[1])
        for col in range(lane, x.shape[1], 32):
            dx[row, col] = r * (g_of[w, col] - mean_g * share - n_of[w, col] * mean_gn * share)
