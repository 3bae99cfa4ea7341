"""Barriers that vote, fences, and a grid that syncs."""

import numpy as np
from numba import cuda


@cuda.jit
def votes(x, out):
    i, b = cuda.grid(1), cuda.blockIdx.x
    value = x[i] if i < x.size else 0
    count = cuda.syncthreads_count(int(value > 3))
    everybody = cuda.syncthreads_and(value + 1)
    anybody = cuda.syncthreads_or(value // 9)
    if cuda.threadIdx.x == b:
        out[b, 0] = count
        out[b, 1] = everybody != 0
        out[b, 2] = anybody != 0


@cuda.jit
def rounds_until_quiet(x, out):
    """Neighbours are sorted until nothing moves."""
    s = cuda.shared.array(32, np.int64)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    rounds = 0
    while True:
        moved = 0
        for odd in range(2):
            if t % 2 == odd and t + 1 < 32 and s[t] > s[t + 1]:
                s[t], s[t + 1] = s[t + 1], s[t]
                moved = 1
            cuda.syncthreads()
        rounds += 1
        if cuda.syncthreads_count(moved) == 0:
            break
    x[cuda.grid(1)] = s[t]
    if t == 0:
        out[cuda.blockIdx.x] = rounds


@cuda.jit
def last_block_sums(x, parts, counter, out):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    last = cuda.shared.array(1, np.int32)
    if t == 0:
        total = 0
        for k in range(cuda.blockDim.x):
            total += x[b * cuda.blockDim.x + k]
        parts[b] = total
        cuda.threadfence()
        last[0] = cuda.atomic.inc(counter, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t == 0:
        cuda.threadfence_block()
        cuda.threadfence_system()
        for k in range(cuda.gridDim.x):
            out[0] += parts[k]


def launches(rng):
    for blocks, threads in ((3, 40), (5, 32), (2, 7)):
        x = rng.integers(0, 12, blocks * threads - 3)
        yield votes, blocks, threads, (x, np.zeros((blocks, 3), np.int64))
    yield rounds_until_quiet, 4, 32, (rng.integers(0, 99, 128), np.zeros(4, np.int64))
    yield (
        last_block_sums,
        6,
        16,
        (
            rng.integers(0, 99, 96),
            np.zeros(6, np.int64),
            np.zeros(1, np.uint32),
            np.zeros(1, np.int64),
        ),
    )
