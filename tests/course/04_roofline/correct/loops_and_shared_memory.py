"""Loops instead of arrays, coefficients staged in shared memory, four totals in local memory."""

import math

import numpy as np

from warpwise import cuda


def count_work(n, k):
    work = np.zeros((6, 2), dtype=np.int64)
    work[0] = 2 * n, 12 * n
    work[1] = 3 * n, 4 * (n + 2) + 4 * n
    work[2] = sum(3 * n for _ in range(k)), 4 * (k + 1 + n + n)
    work[3] = n * n, 4 * n * (n + 2)
    work[4] = 2 * n * n, 4 * n * (n + 2)
    work[5] = 2 * n * n * n, 12 * n * n
    return work


def judge_kernels(flop, moved, ms, peak_tflops, gb_per_s):
    rows = []
    for f, b, t in zip(flop, moved, ms, strict=True):
        bytes_ms, flop_ms = b / gb_per_s / 1e6, f / peak_tflops / 1e9
        least = max(bytes_ms, flop_ms)
        rows.append((f / least / 1e9, 100 * flop_ms / t, 100 * least / t))
    return np.array(rows, dtype=np.float64)


def fastest(flop, moved, peak_tflops, gb_per_s):
    winners = np.zeros(len(flop), dtype=np.int64)
    for k in range(len(flop)):
        least = math.inf
        for d in range(len(peak_tflops)):
            time = max(flop[k] / (1e12 * peak_tflops[d]), moved[k] / (1e9 * gb_per_s[d]))
            if time < least:
                least = time
                winners[k] = d
    return winners


@cuda.jit
def polynomial(c, x, y):
    staged = cuda.shared.array(32, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    v, total = np.float32(0), np.float32(0)
    if i < x.size:
        v = x[i]
    top = c.size
    while top > 0:  # 32 coefficients at a time, the highest first
        first = max(0, top - 32)
        if t < top - first:
            staged[t] = c[first + t]
        cuda.syncthreads()
        if i < x.size:
            for j in range(top - first - 1, -1, -1):
                total = total * v + staged[j]
        cuda.syncthreads()
        top = first
    if i < x.size:
        y[i] = total


@cuda.jit
def four_products(at, xs, out):
    i = cuda.grid(1)
    if i >= at.shape[1]:
        return
    totals = cuda.local.array(4, np.float32)
    for v in range(4):
        totals[v] = 0
    for j in range(at.shape[0]):
        element = at[j, i]
        for v in range(4):
            totals[v] += element * xs[j, v]
    for v in range(4):
        out[v, i] = totals[v]


def examine(n, ms, peak_tflops, gb_per_s, link_gb_per_s):
    matrix = 4.0 * n * n
    seconds = ms / 1000
    least = max(2.0 * n * n * n / (peak_tflops * 1e12), 3 * matrix / (gb_per_s * 1e9))
    copies = 3 * matrix / (link_gb_per_s * 1e9)
    result = np.zeros(4)
    result[0] = 2.0 * n * n * n / seconds / 1e12
    result[1] = least / seconds * 100
    result[2] = copies / seconds * 100
    if seconds >= least:
        result[3] = 3
        if seconds >= least + copies:
            result[3] = 2
        if seconds <= 4 * least:
            result[3] = 1
    return result
