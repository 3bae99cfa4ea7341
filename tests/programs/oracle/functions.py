"""Device functions, what a kernel sees of the text around it, and tuples."""

import numpy as np
from numba import cuda, float32

SCALE = 3
SHIFT, BIAS = 2, -1
WEIGHTS = (1, 10, 100)
EPSILON = np.float32(0.25)


@cuda.jit(device=True)
def square(x):
    return x * x


@cuda.jit(device=True)
def sign(x):
    """Several ways out."""
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@cuda.jit(device=True)
def place_of(x, value):
    """Out of the middle of a loop."""
    for i in range(x.size):
        if x[i] == value:
            return i
    return -1


@cuda.jit(device=True)
def both_ways(a, b):
    if a < b:
        return a, b
    return b, a


@cuda.jit(device=True)
def put(x, i, value):
    """No result: it is called for what it writes."""
    if value < 0:
        return
    x[i] = value


@cuda.jit(device=True)
def column():
    return cuda.grid(1)


@cuda.jit(device=True)
def fourth_power(x):
    return square(square(x))


@cuda.jit
def squares(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = square(x[i]) + fourth_power(x[i]) * sign(x[i])


@cuda.jit
def searched(x, wanted, out):
    i = cuda.grid(1)
    if i < wanted.size:
        out[i] = place_of(x, wanted[i])


@cuda.jit
def ordered(a, b, out):
    i = column()
    if i < a.size:
        low, high = both_ways(a[i], b[i])
        out[i, 0] = low
        out[i, 1] = high


@cuda.jit
def written_elsewhere(x, out):
    i = cuda.grid(1)
    if i < x.size:
        put(out, i, x[i])


@cuda.jit
def called_in_a_branch(x, out):
    """Only some lanes call, and each call has variables of its own."""
    i = cuda.grid(1)
    if i < x.size:
        value = 1000
        if x[i] > 0:
            value = sign(x[i] - 4) + place_of(x, 5)
        elif sign(x[i]) == -1:
            value = -square(x[i])
        out[i] = value


@cuda.jit
def constants(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * SCALE + SHIFT * BIAS + WEIGHTS[1] + len(WEIGHTS)


@cuda.jit
def typed_constant(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + EPSILON


@cuda.jit
def tuples(x, out):
    i = cuda.grid(1)
    if i < x.size:
        pair = (x[i], i)
        a, (b, c) = pair[0], (pair[1], 7)
        a, b = b, a
        first = last = a - b
        out[i, 0] = first + c
        out[i, 1] = last
        place = (i, 2)
        out[place] = pair[-1]


@cuda.jit
def augmented(x, out):
    """Every augmented assignment, on variables and on elements; an index is computed once."""
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        value += 5
        value *= 3
        value -= i
        value //= 2
        value %= 100
        value <<= 2
        value |= 1
        value ^= 6
        value &= 255
        value >>= 1
        out[i] = 1
        out[i] += value
        out[i] *= 2
        out[i] -= x[i]
        out[i] //= 3
        out[i] %= 1000


@cuda.jit
def shared_in_two_functions(x, out):
    first_half(x)
    second_half(x, out)


@cuda.jit(device=True)
def first_half(x):
    mine = cuda.shared.array(32, float32)
    mine[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.syncthreads()
    x[cuda.grid(1)] = mine[31 - cuda.threadIdx.x]


@cuda.jit(device=True)
def second_half(x, out):
    mine = cuda.shared.array(32, float32)
    mine[31 - cuda.threadIdx.x] = x[cuda.grid(1)] + x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = mine[cuda.threadIdx.x]


def make_power(exponent, offset):
    """A kernel that closes over numbers."""

    @cuda.jit
    def closed_over(x, out):
        i = cuda.grid(1)
        if i < x.size:
            value = 1
            for _ in range(exponent):
                value *= x[i]
            out[i] = value + offset

    return closed_over


def launches(rng):
    for n, threads in [(40, 32), (15, 4)]:
        blocks = -(-n // threads)

        def numbers(n=n):
            return rng.integers(-9, 9, n)

        def empty(*more, n=n):
            return np.zeros((n, *more), np.int64)

        yield squares, blocks, threads, (numbers(), empty())
        yield searched, blocks, threads, (rng.permutation(9).astype(np.int64), numbers(), empty())
        yield ordered, blocks, threads, (numbers(), numbers(), empty(2))
        yield written_elsewhere, blocks, threads, (numbers(), empty())
        yield called_in_a_branch, blocks, threads, (numbers(), empty())
        yield constants, blocks, threads, (numbers(), empty())
        yield (
            typed_constant,
            blocks,
            threads,
            (rng.standard_normal(n).astype(np.float32), np.zeros(n, np.float32)),
        )
        yield tuples, blocks, threads, (numbers(), empty(3))
        yield augmented, blocks, threads, (numbers(), empty())
        for exponent, offset in [(2, 0), (3, -4)]:
            yield make_power(exponent, offset), blocks, threads, (numbers(), empty())
    yield (
        shared_in_two_functions,
        2,
        32,
        (rng.standard_normal(64).astype(np.float32), np.zeros(64, np.float32)),
    )
