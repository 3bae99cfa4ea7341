"""Whole arrays, a device function for Horner's step, a loop over elements, and the matrix read from its last column."""

import numpy as np

from warpwise import cuda


def count_work(n, k):
    each = np.array([[2, 12], [3, 8], [3 * k, 8], [n, 4 * n + 8], [2 * n, 4 * n + 8], [2 * n * n, 12 * n]], dtype=np.int64)
    once = np.array([[0, 0], [0, 8], [0, 4 * (k + 1)], [0, 0], [0, 0], [0, 0]], dtype=np.int64)
    return n * each + once


def times(flop, moved, peak_tflops, gb_per_s):
    return np.array([flop / peak_tflops / 1e12, moved / gb_per_s / 1e9])


def judge_kernels(flop, moved, ms, peak_tflops, gb_per_s):
    both = times(flop, moved, peak_tflops, gb_per_s)
    knee = 1000 * peak_tflops / gb_per_s
    attainable = peak_tflops * np.clip(flop / moved / knee, 0, 1)
    return np.column_stack((attainable, 1e5 * both[0] / ms, 1e5 * both.max(axis=0) / ms))


def fastest(flop, moved, peak_tflops, gb_per_s):
    def on_all(f, b):
        return times(f, b, peak_tflops, gb_per_s).max(axis=0)

    return np.array([np.argmin(on_all(f, b)) for f, b in zip(flop, moved, strict=True)])


@cuda.jit(device=True)
def step(total, v, coefficient):
    return coefficient + v * total


@cuda.jit
def polynomial(c, x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v, total = x[i], np.float32(0)
        j = c.size
        while j > 0:
            j -= 1
            total = step(total, v, c[j])
        y[i] = total


@cuda.jit
def four_products(at, xs, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    k, n = at.shape
    if i < n:
        a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        while k > 0:
            k -= 1
            element = at[k, i]
            a, b, c, d = a + element * xs[k, 0], b + element * xs[k, 1], c + element * xs[k, 2], d + element * xs[k, 3]
        out[0, i], out[1, i], out[2, i], out[3, i] = a, b, c, d


def examine(n, ms, peak_tflops, gb_per_s, link_gb_per_s):
    flop, moved = np.float64(2) * n**3, np.float64(12) * n**2
    least = times(flop, moved, peak_tflops, gb_per_s).max() * 1e3
    copies = moved / link_gb_per_s / 1e6
    holds = [ms < least, ms <= 4 * least, ms >= least + copies, True]
    return np.array([flop / ms / 1e9, 100 * least / ms, 100 * copies / ms, holds.index(True)])
