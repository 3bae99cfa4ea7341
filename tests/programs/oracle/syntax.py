"""Python's syntax as kernels use it: loops over arrays and tuples, else after loops, defaults,
inner functions, match, and, or."""

import enum
import math as m
from math import sqrt

import numba.cuda as nc
import numpy as np
from numba import cuda as gpu
from numba import types

# ruff: noqa: B905
# Numba knows no strict=.
LENGTHS = (3, 1, 2)
NAME = "up"


class Color(enum.IntEnum):
    RED = 3
    BLUE = 5


@gpu.jit
def over_arrays(x, y, out):
    i = gpu.grid(1)
    if i < out.size:
        total = 0
        for v in x:
            total += v
        for k, v in enumerate(x):
            total += k * v
        for k, (a, b) in enumerate(zip(x, y), 10):
            total -= k * a + b
        for a, k in zip(x, range(i, 2 * i)):
            total += a * k
        out[i] = total


@gpu.jit
def over_tuples(x, out):
    i = gpu.grid(1)
    if i < out.size:
        total = 0
        for v in (4, 5, i):
            total += v
        for v in LENGTHS:
            total *= v
        for a, b in ((1, 2), (3, 4)):
            total += a * b
        for v in [7, 8]:
            total -= v
        for k, v in enumerate((x[i], x[0])):
            total += k + v
        out[i] = total


@gpu.jit
def steps_of_a_range(x, out):
    """Ranges that differ from thread to thread, zipped: the shortest ends the loop."""
    i = gpu.grid(1)
    if i < out.size:
        total = 0
        for a, b in zip(range(i, 0, -2), range(x[i] % 7)):
            total += a * 100 + b
        for k, v in enumerate(range(i, 12, 3)):
            total += k * v
        out[i] = total


@gpu.jit
def else_after_a_loop(x, out):
    i = gpu.grid(1)
    if i < out.size:
        for k in range(x.size):
            if x[k] == i:
                out[i] = k
                break
        else:
            out[i] = -1
        k = 0
        while k < i:
            k += 3
            if k == 6:
                break
        else:
            out[i] += 1000


@gpu.jit
def matched(x, out):
    i = gpu.grid(1)
    if i < out.size:
        match x[i]:
            case 1:
                out[i] = 10
            case 2 | 3:
                out[i] = 20
            case 4 if i > 5:
                out[i] = 30
            case other:
                out[i] = -other


@gpu.jit
def values_of_conditions(x, y, out):
    """``and`` and ``or`` give one of their values."""
    i = gpu.grid(1)
    if i < out.size:
        a = x[i] or 7
        b = x[i] and y[i]
        c = (x[i] and y[i]) or 9
        out[i] = a * 100 + b * 10 + c
        if x[i] and y[i] > 2:
            out[i] += 5000
        if not x[i] or i in (3, 4):
            out[i] += 90000


@gpu.jit(device=True)
def scaled(x, by=2, extra=None):
    if extra is None:
        return x * by
    return x * by + extra


@gpu.jit(device=True)
def sum_of(first, *rest):
    total = first
    for v in rest:
        total += v
    return total


@gpu.jit(device=True)
def applied(function, x):
    return function(x)


@gpu.jit(device=True)
def square(x):
    return x * x


@gpu.jit
def arguments(x, out):
    i = gpu.grid(1)
    if i < out.size:
        pair, two = (x[i], 5), (i, i + 1)
        out[i] = scaled(x[i]) + scaled(x[i], 10) + scaled(i, 2, 100) + scaled(*pair)
        out[i] += sum_of(1, 2, i) + sum_of(i, 7) + sum_of(*two)
        out[i] += max(*pair) + sum(LENGTHS) + min(LENGTHS)


@gpu.jit
def inner_functions(x, out):
    i = gpu.grid(1)
    if i < out.size:
        offset = i + 1

        def shifted(v):
            return v + offset

        double = lambda v: 2 * v  # noqa: E731
        same = square
        out[i] = shifted(x[i]) + double(x[i]) + same(i)
        offset = 1000
        out[i] += shifted(0)
        out[i] += applied(square, 3) + applied(double, i)


@nc.jit
def aliases(x, out):
    i = nc.grid(1)
    if i < out.size:
        out[i] = (
            sqrt(types.float64(x[i] * x[i])) + m.floor(2.5) + Color.RED * Color.BLUE + float("inf")
        )


@gpu.jit
def odds_and_ends(x, out):
    """Chained comparisons, annotations, text that is known, pairs."""
    i = gpu.grid(1)
    if i < out.size:
        count: int = 0
        first = last = x[i]
        if -3 < first <= 4 != i:
            count += 1
        if NAME == "up":
            count += 10
        else:
            count = undefined  # noqa: F821
        (a, b), c = (first, 2), last
        a, b = b, a
        whole, part = divmod(x[i], 4)
        assert part >= 0, "a remainder is not negative"
        out[i] = count + (a - b if c > 0 else c) + whole * 10 + part


def launches(rng):
    for n, threads in [(40, 32), (9, 4)]:
        blocks = -(-n // threads)

        def numbers(low=-9, high=9, size=n):
            return rng.integers(low, high, size)

        yield (
            over_arrays,
            blocks,
            threads,
            (numbers(size=7), numbers(size=5), np.zeros(n, np.int64)),
        )
        yield over_tuples, blocks, threads, (numbers(), np.zeros(n, np.int64))
        yield steps_of_a_range, blocks, threads, (numbers(), np.zeros(n, np.int64))
        order = rng.permutation(n).astype(np.int64)
        yield else_after_a_loop, blocks, threads, (order, np.zeros(n, np.int64))
        yield else_after_a_loop, blocks, threads, (numbers(0, 12, 8), np.zeros(n, np.int64))
        yield matched, blocks, threads, (numbers(0, 6), np.zeros(n, np.int64))
        yield (
            values_of_conditions,
            blocks,
            threads,
            (numbers(-1, 2), numbers(-1, 4), np.zeros(n, np.int64)),
        )
        yield arguments, blocks, threads, (numbers(), np.zeros(n, np.int64))
        yield inner_functions, blocks, threads, (numbers(), np.zeros(n, np.int64))
        yield aliases, blocks, threads, (numbers(), np.zeros(n))
        yield odds_and_ends, blocks, threads, (numbers(), np.zeros(n, np.int64))
