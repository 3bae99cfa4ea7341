"""Lanes that part and meet again: if, elif, else, early return, and conditions that must not be
looked at too early."""

import numpy as np
from numba import cuda


@cuda.jit
def clamp(x, low, high, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    value = x[i]
    if value < low:
        value = low
    elif value > high:
        value = high
    out[i] = value


@cuda.jit
def grade(points, out):
    i = cuda.grid(1)
    if i < points.size:
        p = points[i]
        if p >= 90:
            out[i] = 1
        elif p >= 75:
            out[i] = 2
        elif p >= 60:
            out[i] = 3
        elif p >= 50:
            out[i] = 4
        else:
            out[i] = 5


@cuda.jit
def several_returns(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    out[i] = 1
    if x[i] < 0:
        return
    out[i] = 2
    if x[i] > 5:
        if x[i] > 7:
            out[i] = 3
            return
        out[i] += 10
    out[i] += 100


@cuda.jit
def neighbour_or_zero(x, out):
    """``and`` guards the index to its right: the last lane must not look."""
    i = cuda.grid(1)
    if i < x.size:
        if i + 1 < x.size and x[i + 1] > x[i]:
            out[i] = x[i + 1]
        else:
            out[i] = 0


@cuda.jit
def edge_or_small(x, out):
    """``or`` guards the index to its right."""
    i = cuda.grid(1)
    if i < x.size and (i == 0 or x[i - 1] < 3 or i == x.size - 1):
        out[i] = 1


@cuda.jit
def guarded_value(x, out):
    """A conditional expression guards the index in its middle, and nests."""
    i = cuda.grid(1)
    if i < out.size:
        left = x[i - 1] if i > 0 else x[0]
        right = x[i + 1] if i + 1 < x.size else x[i]
        out[i] = 1 if left < right else 2 if left == right else 3


@cuda.jit
def chained(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 1 if -2 < x[i] <= 4 else 0
        if not (0 <= i < 3 < x.size):
            out[i] += 10


@cuda.jit
def truth_of_numbers(x, y, out):
    """Zero is false, for integers and for floats; a condition can be kept in a variable."""
    i = cuda.grid(1)
    if i < out.size:
        value = 0
        if x[i]:
            value += 1
        if not y[i]:
            value += 2
        both = x[i] > 0 and y[i] > 0
        if both:
            value += 4
        if both or x[i] == 0:
            value += 8
        out[i] = value


@cuda.jit
def one_side_only(x, out):
    """A variable that every lane has, and only some lanes change, twice nested."""
    i = cuda.grid(1)
    if i < out.size:
        a, b = 0, 100
        if x[i] > 0:
            a = 1
            if x[i] > 3:
                b = a + x[i]
            a = a + b
        out[i] = 1000 * a + b


@cuda.jit
def assigned_on_both_sides(x, out):
    i = cuda.grid(1)
    if i < out.size:
        if i % 2 == 0:
            value = x[i]
            sign = 1
        else:
            value = -x[i]
            sign = -1
        out[i] = value * 10 + sign


@cuda.jit
def warps_apart(out):
    """A condition that parts whole warps and one that parts blocks."""
    i = cuda.grid(1)
    if i < out.size:
        if cuda.threadIdx.x // 32 == 1:
            out[i] = 1
        if cuda.blockIdx.x == 1:
            out[i] += 2
        elif cuda.blockIdx.x % 2 == 0:
            out[i] += 4


@cuda.jit
def odd_swap(x):
    """Compare and exchange neighbours, in place."""
    i = 2 * cuda.grid(1)
    if i + 1 < x.size and x[i] > x[i + 1]:
        x[i], x[i + 1] = x[i + 1], x[i]


def launches(rng):
    for n, threads in [(45, 32), (130, 64), (20, 9)]:
        blocks = -(-n // threads)

        def numbers(low=-9, high=9, n=n):
            return rng.integers(low, high, n)

        def empty(n=n):
            return np.zeros(n, np.int64)

        yield clamp, blocks, threads, (numbers(), -3, 4, empty())
        yield grade, blocks, threads, (numbers(0, 100), empty())
        yield several_returns, blocks, threads, (numbers(), empty())
        yield neighbour_or_zero, blocks, threads, (numbers(), empty())
        yield edge_or_small, blocks, threads, (numbers(), empty())
        yield guarded_value, blocks, threads, (numbers(), empty())
        yield chained, blocks, threads, (numbers(), empty())
        yield (
            truth_of_numbers,
            blocks,
            threads,
            (numbers(-1, 2), numbers(-1, 2).astype(np.float64), empty()),
        )
        yield one_side_only, blocks, threads, (numbers(), empty())
        yield assigned_on_both_sides, blocks, threads, (numbers(), empty())
        yield warps_apart, blocks, threads, (empty(),)
        yield odd_swap, blocks, threads, (numbers(),)
