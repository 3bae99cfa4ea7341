"""Conditional work, loops on the host, a guard against the column first, and a while loop that writes from the other end."""

from math import floor

import numpy as np

from warpwise import cuda


@cuda.jit
def square(x, out):
    k = cuda.grid(1)
    if 0 <= k < len(x):
        out[k] = x[k] ** 2


def place(n, threads, i):
    blocks = 0
    while blocks * threads < n:
        blocks += 1
    block = floor(i / threads)
    result = np.zeros(4, dtype=int)
    result[:] = blocks, blocks * threads - n, block, i - block * threads
    return result


@cuda.jit
def add(a, b, out):
    k = cuda.grid(1)
    shorter = min(a.size, b.size)
    if k < shorter:
        out[k] = b[k] + a[k]


@cuda.jit
def centre(x, mean, out):
    col, row = cuda.grid(2)
    if col < mean.size:
        shift = mean[col]
        if row < x.shape[0]:
            out[row, col] = x[row, col] - shift


def choose_launch(n, sms):
    threads = 1024
    while threads > 32 and np.ceil(n / threads) < sms:
        threads //= 2
    return np.array([int(np.ceil(n / threads)), threads])


@cuda.jit
def reverse(x, out):
    left = x.size - 1 - cuda.grid(1)
    while left >= 0:
        out[x.size - 1 - left] = x[left]
        left -= cuda.gridsize(1)
