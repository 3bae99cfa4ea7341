"""Loads that a warp stores to shared memory at once, by hand: ``Trace.loads_stored_at_once``."""

import numpy as np
import pytest
from numba import cuda

from warpwise import trace
from warpwise.kernels.tensor_core import cp_async16, cp_async_commit, cp_async_wait


@cuda.jit
def straight(x, y):
    s = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    s[t] = x[i]
    y[i] = s[t]


@cuda.jit
def by_way_of_registers(x, y):
    s = cuda.shared.array(64, np.float32)
    mine = cuda.local.array(2, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    mine[0], mine[1] = x[i], x[i] if t < 32 else y[i]
    s[t] = mine[0]
    y[i] = s[t] + mine[1]


@cuda.jit
def arithmetic_between(x, y):
    s = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    mine, sum = x[i], np.float32(i)
    sum += np.float32(2)
    s[t] = mine
    y[i] = s[t] + sum


@cuda.jit
def whole_numbers_between(x, y):
    s = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    mine, sum = x[i], i
    for k in range(9):
        sum += k * i
    s[t] = mine
    y[i] = s[t] + np.float32(sum)


@cuda.jit
def second_warp_computes(x, y):
    s = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    mine, sum = x[i], np.float32(0)
    if t >= 32:
        sum += np.float32(2)
    s[t] = mine
    y[i] = s[t] + sum


@cuda.jit
def first_warp_stores(x, y):
    s = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    mine = x[i] if t % 2 else x[0]
    if t < 32:
        s[t] = mine
    y[i] = mine


@cuda.jit
def long_loop_of_one_warp(x, y):  # it goes on compacted
    s = cuda.shared.array(64, np.float32)
    if cuda.blockIdx.x == 1 and cuda.threadIdx.x >= 32:
        for i in range(cuda.laneid, x.size, 32):
            s[cuda.threadIdx.x] = x[i]
    y[cuda.grid(1)] = 1


@cuda.jit
def no_shared_memory(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1)]


@pytest.mark.parametrize(
    ("kernel", "blocks", "threads", "count"),
    [
        (straight, 3, 64, 3 * 2),
        (straight, 3, 50, 3 * 2),  # the second warp of a block has 18 threads
        (by_way_of_registers, 3, 64, 3 * 2 * 2),
        (arithmetic_between, 3, 64, 0),
        (whole_numbers_between, 3, 64, 3 * 2),
        (second_warp_computes, 3, 64, 3),
        (first_warp_stores, 3, 64, 3 * 2),
        (long_loop_of_one_warp, 20, 64, 20 * 64 // 32),
        (no_shared_memory, 3, 64, 0),
    ],
)
def test_loads_stored_at_once_are_counted(kernel, blocks, threads, count):
    x, y = np.zeros(blocks * threads, np.float32), np.zeros(blocks * threads, np.float32)
    t = trace(kernel, blocks, threads, x, y, sanitize=False)
    assert t.loads_stored_at_once == count


@cuda.jit
def copied(x, y, first):
    s = cuda.shared.array(128, np.float32, alignment=16)
    t, sum = cuda.threadIdx.x, np.float32(0)
    cp_async16(s, 4 * t, x, 4 * t)
    cp_async_commit()
    if first:
        cp_async_wait(0)
    sum += np.float32(1)
    cp_async_wait(0)
    y[t] = s[4 * t] + sum


@pytest.mark.parametrize(("first", "count"), [(True, 1), (False, 0)])
def test_a_copy_is_stored_at_once_if_the_warp_waits_before_it_computes(first, count):
    x, y = np.zeros(128, np.float32), np.zeros(32, np.float32)
    assert trace(copied, 1, 32, x, y, first).loads_stored_at_once == count


def test_dynamic_shared_memory_is_watched_too():
    @cuda.jit
    def kernel(x, y):
        s = cuda.shared.array(0, np.float32)
        s[cuda.threadIdx.x] = x[cuda.threadIdx.x]
        y[cuda.threadIdx.x] = s[cuda.threadIdx.x]

    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    assert trace(kernel, 1, 64, x, y, shared_bytes=256).loads_stored_at_once == 2
