"""Atomic operations whose results do not depend on the order of the threads: sums, extremes, bits,
counters, tickets, locks."""

import numpy as np
from numba import cuda

BINS = 16


@cuda.jit
def histogram(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i] % BINS, 1)


@cuda.jit
def histogram_in_shared_memory(x, bins):
    mine = cuda.shared.array(BINS, np.int32)
    t = cuda.threadIdx.x
    if t < BINS:
        mine[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < x.size:
        cuda.atomic.add(mine, x[i] % BINS, 1)
        i += cuda.gridsize(1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(bins, t, mine[t])


@cuda.jit
def sums_and_extremes(x, low, high, total, rest):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        cuda.atomic.min(low, i, x[i, j])
        cuda.atomic.max(high, i, x[i, j])
        cuda.atomic.add(total, (i % 2, j % 3), x[i, j])
        cuda.atomic.sub(rest, -1, x[i, j])


@cuda.jit
def extremes_without_nan(x, low, high):
    i = cuda.grid(1)
    cuda.atomic.nanmin(low, i % 3, x[i])
    cuda.atomic.nanmax(high, i % 3, x[i])


@cuda.jit
def bits(x, all_of, any_of, odd):
    i = cuda.grid(1)
    cuda.atomic.and_(all_of, i % 3, x[i])
    cuda.atomic.or_(any_of, i % 3, x[i])
    cuda.atomic.xor(odd, i % 3, x[i])


@cuda.jit
def counters(up, down):
    i = cuda.grid(1)
    cuda.atomic.inc(up, i % 2, 6)
    cuda.atomic.dec(down, i % 2, 6)


@cuda.jit
def tickets(taken, counter):
    ticket = cuda.atomic.add(counter, 0, 1)
    taken[ticket] += 1
    turn = cuda.atomic.inc(counter, 1, 1000)
    taken[turn] += 1


@cuda.jit
def first_come(x, slots):
    i = cuda.grid(1)
    key = x[i] % 7 + 1
    place = key % slots.size
    while True:
        old = cuda.atomic.cas(slots, place, 0, key)
        if old == 0 or old == key:
            break
        place = (place + 1) % slots.size


@cuda.jit
def largest_by_compare_and_swap(x, best):
    i = cuda.grid(1)
    old = cuda.atomic.max(best, 0, 0)
    while old < x[i]:
        assumed = old
        old = cuda.atomic.compare_and_swap(best, assumed, x[i])
        if old == assumed:
            break


@cuda.jit
def chain(x, out):
    i = cuda.grid(1)
    if i == 0:
        out[0] = cuda.atomic.exch(x, 3, 77)
        out[1] = cuda.atomic.exch(x, 3, 5)
        out[2] = cuda.atomic.sub(x, 3, 2)
        out[3] = cuda.atomic.max(x, 3, 9)
        out[4] = cuda.atomic.cas(x, 3, 9, 1)
        out[5] = cuda.atomic.cas(x, 3, 9, 2)
        out[6] = x[3]


def launches(rng):
    x = rng.integers(0, 100, 90)
    yield histogram, 3, 32, (x, np.zeros(BINS, np.int64))
    yield histogram, 3, 32, (x, np.zeros(BINS, np.float32))
    yield histogram_in_shared_memory, 2, 20, (x, np.zeros(BINS, np.int32))
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        table = rng.integers(-50, 50, (5, 9)).astype(dtype)
        low, high = np.full(5, 99, dtype), np.full(5, -99, dtype)
        yield (
            sums_and_extremes,
            (2, 3),
            (4, 3),
            (table, low, high, np.zeros((2, 3), dtype), np.zeros(4, dtype)),
        )
    some = rng.standard_normal(40)
    some[::3] = np.nan
    yield extremes_without_nan, 2, 20, (some, np.full(3, np.nan), np.full(3, 0.25))
    for dtype in (np.int32, np.uint64):
        values = rng.integers(0, 1 << 20, 40).astype(dtype)
        yield (
            bits,
            2,
            20,
            (values, np.full(3, (1 << 21) - 1, dtype), np.zeros(3, dtype), np.zeros(3, dtype)),
        )
    for dtype in (np.uint32, np.uint64):
        yield counters, 3, 11, (np.array([0, 9], dtype), np.array([3, 9], dtype))
    yield tickets, 2, 24, (np.zeros(48, np.int64), np.zeros(2, np.uint32))
    yield largest_by_compare_and_swap, 2, 20, (x, np.zeros(1, np.int64))
    yield first_come, 1, 30, (x, np.zeros(1 << 5, np.int32))
    yield chain, 1, 4, (np.arange(5, dtype=np.int64), np.zeros(7, np.int64))
