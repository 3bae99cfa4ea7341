"""Integer arithmetic: 64 bits that wrap around, floor division and remainder of negative numbers,
shifts, bits, casts."""

import numpy as np
from numba import cuda


@cuda.jit
def wrap_around(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + b[i]
        out[i, 1] = a[i] - b[i]
        out[i, 2] = a[i] * b[i]
        out[i, 3] = -a[i]


@cuda.jit
def floor_and_remainder(a, b, out):
    i = cuda.grid(1)
    if i < a.size and b[i] != 0:
        out[i, 0] = a[i] // b[i]
        out[i, 1] = a[i] % b[i]


@cuda.jit
def constant_divisors(a, out):
    """Powers of two, other numbers and negative ones, as divisors known before the kernel runs."""
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] // 8 * 100 + a[i] % 8
        out[i, 1] = a[i] // 7 * 100 + a[i] % 7
        out[i, 2] = a[i] // -4 * 100 + a[i] % -4
        out[i, 3] = a[i] // 1 * 100 + a[i] % 1


@cuda.jit
def bits(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] & b[i]
        out[i, 1] = a[i] | b[i]
        out[i, 2] = a[i] ^ b[i]
        out[i, 3] = ~a[i]


@cuda.jit
def shifts(a, by, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] << by[i]
        out[i, 1] = a[i] >> by[i]
        out[i, 2] = 1 << (i % 20)
        out[i, 3] = i >> 2


@cuda.jit
def narrow_store(a, small):
    """A store keeps the low bits."""
    i = cuda.grid(1)
    if i < a.size:
        small[i] = a[i]


@cuda.jit
def unsigned(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + b[i]
        out[i, 1] = a[i] - b[i]
        out[i, 2] = a[i] * b[i]
        out[i, 3] = a[i] // (b[i] | b[i] + a[i] | a[i]) if a[i] > 0 else a[i]


@cuda.jit
def extremes(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = min(a[i], b[i])
        out[i, 1] = max(a[i], b[i], 3)
        out[i, 2] = abs(a[i])
        out[i, 3] = min(i, 5) + max(2, i)


@cuda.jit
def negative_indices(a, out):
    """Python's: -1 is the last element."""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[-1 - i] * 10 + a[-1] - out[-a.size + i]


@cuda.jit
def powers(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] ** 2
        out[i, 1] = a[i] ** 3
        out[i, 2] = 2 ** (i % 9)
        out[i, 3] = pow(a[i], i % 3)


@cuda.jit
def casts(a, x, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = int(x[i])
        out[i, 1] = np.int32(a[i])
        out[i, 2] = np.uint8(a[i] & 255)
        out[i, 3] = bool(a[i]) + int(a[i] > 2)


@cuda.jit
def compare_mixed(a, x, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = (a[i] < x[i]) + 2 * (a[i] == 3) + 4 * (x[i] >= a[i]) + 8 * (a[i] != i)


@cuda.jit
def scramble(seed, out):
    """xorshift: a random number for each thread, with no state between them."""
    i = cuda.grid(1)
    if i < out.size:
        s = seed[i]
        s ^= s << np.uint64(13)
        s ^= s >> np.uint64(7)
        s ^= s << np.uint64(17)
        out[i] = s


def launches(rng):
    for n, threads in [(50, 32), (21, 8)]:
        blocks = -(-n // threads)

        def numbers(low=-40, high=40, dtype=np.int64, n=n):
            return rng.integers(low, high, n, dtype)

        def empty(n=n, dtype=np.int64):
            return np.zeros((n, 4), dtype)

        huge = np.iinfo(np.int64)
        yield (
            wrap_around,
            blocks,
            threads,
            (numbers(huge.min, huge.max), numbers(huge.min, huge.max), empty()),
        )
        yield floor_and_remainder, blocks, threads, (numbers(), numbers(-6, 6), empty())
        yield constant_divisors, blocks, threads, (numbers(), empty())
        yield bits, blocks, threads, (numbers(huge.min, huge.max), numbers(), empty())
        yield shifts, blocks, threads, (numbers(), numbers(0, 50), empty())
        for dtype in (np.int8, np.uint8, np.int16, np.int32):
            yield narrow_store, blocks, threads, (numbers(-9, 9).astype(dtype), np.zeros(n, dtype))
        big = 2**64 - 1
        yield (
            unsigned,
            blocks,
            threads,
            (numbers(0, big, np.uint64), numbers(0, big, np.uint64), empty(dtype=np.uint64)),
        )
        yield extremes, blocks, threads, (numbers(), numbers(), empty())
        yield negative_indices, blocks, threads, (numbers(), np.zeros(n, np.int64))
        yield powers, blocks, threads, (numbers(), empty())
        yield casts, blocks, threads, (numbers(), rng.standard_normal(n) * 9, empty())
        yield (
            compare_mixed,
            blocks,
            threads,
            (numbers(), rng.integers(-5, 5, n).astype(np.float64), np.zeros(n, np.int64)),
        )
        yield scramble, blocks, threads, (numbers(1, big, np.uint64), np.zeros(n, np.uint64))
