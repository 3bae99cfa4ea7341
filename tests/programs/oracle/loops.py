"""Loops whose length every lane knows for itself: while, break, continue, nested, backwards, and
not at all."""

import numpy as np
from numba import cuda


@cuda.jit
def collatz(n, steps):
    i = cuda.grid(1)
    if i < n.size:
        value = n[i]
        count = 0
        while value != 1:
            if value % 2 == 0:
                value //= 2
            else:
                value *= 3
                value += 1
            count += 1
        steps[i] = count


@cuda.jit
def first_above(x, limit, out):
    """The place of the first element of each row above a limit, -1 without one: a search with
    break."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        found = -1
        for i in range(x.shape[1]):
            if x[row, i] > limit:
                found = i
                break
        out[row] = found


@cuda.jit
def sum_without_odd(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = 0
        for i in range(x.shape[1]):
            if x[row, i] % 2 == 1:
                continue
            total += x[row, i]
        out[row] = total


@cuda.jit
def break_and_continue(x, out):
    """Both in one loop, under conditions that differ from lane to lane, and a value that survives
    the loop."""
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        last = -1
        for k in range(i % 7 + 5):
            if k % 3 == i % 3:
                continue
            if x[i] < k:
                break
            last = k
            total += k
        out[i] = total * 100 + last


@cuda.jit
def triangle(out):
    """Nested loops, each of a length that depends on the lane."""
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for a in range(i % 5):
            for b in range(a, i % 4 + 1):
                total += a * 10 + b
        out[i] = total


@cuda.jit
def break_inner_only(out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for a in range(4):
            for b in range(6):
                if b == i % 6:
                    break
                total += 1
            total += 100 * a
        out[i] = total


@cuda.jit
def return_from_a_loop(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    for k in range(8):
        if x[i] == k:
            out[i] = 10 + k
            return
    out[i] = -5


@cuda.jit
def backwards(x, out):
    i = cuda.grid(1)
    if i < out.size:
        value = 0
        for k in range(i % 9, -1, -2):
            value = value * 3 + x[k]
        out[i] = value


@cuda.jit
def last_counter(out):
    """A loop's counter keeps its last value, and an empty loop leaves what was there."""
    i = cuda.grid(1)
    if i < out.size:
        k = 77
        for k in range(i % 4):  # noqa: B007
            pass
        out[i] = k


@cuda.jit
def while_with_break(out):
    i = cuda.grid(1)
    if i < out.size:
        n = 0
        while True:
            n += 3
            if n > i:
                break
            if n % 2 == 0:
                n += 1
                continue
            n += 2
        out[i] = n


@cuda.jit
def gcd(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        x, y = a[i], b[i]
        while y != 0:
            x, y = y, x % y
        out[i] = x


@cuda.jit
def uniform_steps(x, steps, out):
    """The same number of trips for all lanes, given by an argument."""
    i = cuda.grid(1)
    if i < out.size:
        value = x[i]
        for _ in range(steps):
            value = value + value
        out[i] = value


@cuda.jit
def changed_counter(out):
    """The body may change its counter; the next trip does not care."""
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(5):
            total += k
            k = k + i
            total += k
        out[i] = total


@cuda.jit
def changed_bound(out):
    """A range is computed once, before the first trip."""
    i = cuda.grid(1)
    if i < out.size:
        n = i % 6
        total = 0
        for k in range(n):
            n = n + 10
            total += k
        out[i] = total + n


@cuda.jit
def prefix_in_place(x):
    """Each row on its own: what one trip writes, the next one reads."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        for i in range(1, x.shape[1]):
            x[row, i] += x[row, i - 1]


def launches(rng):
    for n, threads in [(40, 32), (97, 64), (13, 7)]:
        blocks = -(-n // threads)

        def numbers(low, high, n=n):
            return rng.integers(low, high, n)

        def empty(n=n):
            return np.full(n, -99, np.int64)

        yield collatz, blocks, threads, (numbers(1, 60), empty())
        yield first_above, blocks, threads, (rng.random((n, 9)), 0.8, empty())
        yield sum_without_odd, blocks, threads, (rng.integers(0, 50, (n, 7)), empty())
        yield break_and_continue, blocks, threads, (numbers(0, 9), empty())
        yield triangle, blocks, threads, (empty(),)
        yield break_inner_only, blocks, threads, (empty(),)
        yield return_from_a_loop, blocks, threads, (numbers(0, 12), empty())
        yield backwards, blocks, threads, (rng.integers(-5, 5, 9), empty())
        yield last_counter, blocks, threads, (empty(),)
        yield while_with_break, blocks, threads, (empty(),)
        yield gcd, blocks, threads, (numbers(1, 500), numbers(0, 500), empty())
        yield uniform_steps, blocks, threads, (numbers(-9, 9), 5, empty())
        yield uniform_steps, blocks, threads, (numbers(-9, 9), 0, empty())
        yield changed_counter, blocks, threads, (empty(),)
        yield changed_bound, blocks, threads, (empty(),)
        yield prefix_in_place, blocks, threads, (rng.integers(0, 9, (n, 6)),)
