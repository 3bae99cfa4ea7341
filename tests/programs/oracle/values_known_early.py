"""Functions, types and words of CUDA as values, enumerations, numbers or None, and names that
change their types."""

import cmath
import enum
import math
import operator

import numpy as np
from numba import cuda

# ruff: noqa: SIM108
DEBUG = False
REAL = np.float32


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


class Level(enum.IntEnum):
    LOW = 3
    HIGH = 7


@cuda.jit(device=True)
def applied(function, a, b):
    return function(a, b)


@cuda.jit(device=True)
def added(add, out, i, value):
    add(out, i, value)


@cuda.jit(device=True)
def positive(v):
    if v > 0:
        return v
    return None


@cuda.jit(device=True)
def or_else(v, otherwise=None):
    if v is None:
        if otherwise is None:
            return -1
        return otherwise
    return v


def combined(function, start):
    """Return a kernel that has a function and a number of its own."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(x[i], start)

    return kernel


with_add, with_max, with_hypot = (
    combined(operator.add, 3),
    combined(max, 2),
    combined(math.hypot, 1.5),
)


@cuda.jit
def passed_on(x, out):
    i = cuda.grid(1)
    if i < out.size:
        f = applied
        total = f(operator.sub, x[i], 2) + f(min, i, 3)
        added(cuda.atomic.add, out, i, total)


@cuda.jit
def short_names(x, out):
    d, e = x.dtype, REAL
    tile = cuda.shared.array(64, d)
    own = cuda.local.array(2, e)
    b, w, t = cuda.blockIdx, cuda.blockDim, cuda.threadIdx
    i = b.x * w.x + t.x
    if i < out.size:
        own[0] = e(i)
        own[1] = d.type(2)
        tile[t.x] = x[i]
        out[i] = tile[t.x] + own[0] * own[1]


@cuda.jit
def branches_not_taken(x, out):
    i = cuda.grid(1)
    if DEBUG:
        out[i] = nothing_of_this_name  # noqa: F821
    if x.ndim == 2:
        out[i] = x[0, i]
    elif i < out.size:
        v = x
        total = v[i]
        v = 2.5
        total = total * v
        if i > 3:
            v = x
        v = x
        for k in range(3):
            if k == 0:
                last = v[0] if i > 3 else x[1]
            else:
                last = last * k
            total += last
        out[i] = total


@cuda.jit
def numbers_or_none(x, out):
    i = cuda.grid(1)
    if i < out.size:
        v = positive(x[i])
        w = None
        if i > 4:
            w = i
        if v is not None:
            out[i] = v + or_else(w)
        else:
            out[i] = 100 + or_else(v, 7) + or_else(w, 5)


@cuda.jit
def enumerations(x, out):
    i = cuda.grid(1)
    if i < out.size:
        side = Side.LEFT if x[i] > 0 else Side["RIGHT"]
        out[i] = side.value
        if side is Side.RIGHT and side != Side.LEFT:
            out[i] += Level.HIGH * 10 + Level.LOW.value


@cuda.jit
def expressions(x, out):
    i = cuda.grid(1)
    if i < out.size:
        for a, b in np.ndindex(2, 3):
            out[i] += a * 10 + b
        out[i] += np.float32(i).view(np.int32).bit_count()
        out[i] += cmath.log(2.0 + 0j, 4.0 + 0j).real
        pair = (x[i] * 1.0, 2.0)
        out[i] += complex(*pair).imag


def launches(rng):
    for n, threads in [(40, 32), (9, 4)]:
        blocks = -(-n // threads)
        whole = rng.integers(-9, 9, n)
        for kernel in (with_add, with_max, passed_on, numbers_or_none, enumerations):
            yield kernel, blocks, threads, (whole, np.zeros(n, np.int64))
        for kernel in (with_hypot, expressions):
            yield kernel, blocks, threads, (whole.astype(np.float64), np.zeros(n))
        yield short_names, blocks, threads, (whole.astype(np.float32), np.zeros(n))
        yield branches_not_taken, blocks, threads, (whole.astype(np.float64), np.zeros(n))
