"""What the busiest warp loads and stores, by hand: ``Trace.most_bytes_loaded_by_a_warp``, ..."""

import numpy as np
import pytest
from numba import cuda

from warpwise import trace


@cuda.jit
def shared_out(y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = 1


@cuda.jit
def one_block(y):
    if cuda.blockIdx.x == 0:
        for i in range(cuda.threadIdx.x, y.size, cuda.blockDim.x):
            y[i] = 1


@cuda.jit
def one_thread(y):
    if cuda.grid(1) == 0:
        for i in range(y.size):
            y[i] = 1


@cuda.jit
def by_atomics(y):
    cuda.atomic.add(y, cuda.grid(1) % y.size, 1)


@cuda.jit
def on_the_chip(y):
    s = cuda.shared.array(64, np.float32)
    mine = cuda.local.array(1, np.float32)
    for _ in range(9):
        s[cuda.threadIdx.x] = mine[0] = 1
    if cuda.threadIdx.x == 40:
        y[cuda.blockIdx.x] = s[40] + mine[0]


@pytest.mark.parametrize(
    ("kernel", "blocks", "threads", "size", "most"),
    [
        (shared_out, 7, 64, 400, 32 * 4),
        (shared_out, 7, 64, 9, 9 * 4),
        (shared_out, 3, 50, 150, 32 * 4),  # the second warp of a block has 18 threads
        (shared_out, 3, (5, 3, 2), 60, 30 * 4),  # all 30 threads of a block are one warp
        (one_block, 7, 64, 448, 7 * 32 * 4),
        (one_block, 100, 96, 2400, 25 * 32 * 4),  # a loop that goes on compacted
        (one_thread, 7, 64, 400, 400 * 4),
        (one_thread, 90, 128, 700, 700 * 4),
        (by_atomics, 3, 64, 7, 32 * 4),
        (on_the_chip, 3, 64, 3, 4),
    ],
)
def test_what_the_busiest_warp_stores_is_counted(kernel, blocks, threads, size, most):
    y = np.zeros(size, np.float32)
    t = trace(kernel, blocks, threads, y, sanitize=False)
    assert t.most_bytes_stored_by_a_warp == most
    assert t.metrics.global_store_bytes + t.metrics.global_atomic_bytes >= most


@cuda.jit
def loads_shared_out(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[0] = x[i]


@cuda.jit
def loads_of_one_warp(x, y):
    if cuda.blockIdx.x == 1 and cuda.threadIdx.x // 32 == 1:
        for i in range(cuda.laneid, x.size, 32):
            y[0] = x[i]


@cuda.jit
def loads_by_atomics(x, y):
    cuda.atomic.add(x, cuda.grid(1) % x.size, 0)
    y[0] = 1


@cuda.jit
def loads_on_the_chip(x, y):
    s = cuda.shared.array(64, np.float32)
    s[cuda.threadIdx.x] = 1
    for _ in range(9):
        y[0] = s[cuda.threadIdx.x]


@pytest.mark.parametrize(
    ("kernel", "blocks", "threads", "size", "most"),
    [
        (loads_shared_out, 7, 64, 400, 32 * 4),
        (loads_shared_out, 7, 64, 9, 9 * 4),
        (loads_of_one_warp, 7, 64, 400, 400 * 4),
        (loads_of_one_warp, 90, 128, 700, 700 * 4),
        (loads_by_atomics, 3, 64, 7, 32 * 4),
        (loads_on_the_chip, 3, 64, 3, 0),
    ],
)
def test_what_the_busiest_warp_loads_is_counted(kernel, blocks, threads, size, most):
    x, y = np.zeros(size, np.float32), np.zeros(1, np.float32)
    t = trace(kernel, blocks, threads, x, y, sanitize=False)
    assert t.most_bytes_loaded_by_a_warp == most
    assert t.metrics.global_load_bytes + t.metrics.global_atomic_bytes >= most


def test_it_counts_bytes_of_the_element():
    y = np.zeros(64, np.float64)
    assert trace(shared_out, 1, 64, y).most_bytes_stored_by_a_warp == 32 * 8
