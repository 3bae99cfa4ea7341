"""Where Numba's simulator computes with Python's and NumPy's types, and Numba's compiler with its
own: the compiler's rule wins.

Each launch names, after its arguments, what the compiler's types give, reckoned by NumPy in exactly
those types."""
# expect: the simulator differs

import math

import numpy as np
from numba import cuda


@cuda.jit
def small_integers_widen(a, b, out):
    """int8 + int8 is int64: nothing wraps around at 127."""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + b[i]


@cuda.jit
def unsigned_minus_literal(a, out):
    """uint8 - 1 is int64, and can be negative."""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] - 1


@cuda.jit
def shift_widens(a, out):
    """int32 << 8 is int64."""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] << 8


@cuda.jit
def unsigned_with_signed(a, b, out):
    """uint64 + int64 is int64, not float64."""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + b[i]


@cuda.jit
def index_wraps(out):
    """A thread's index is an int64, not Python's integer without end."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = ((i + 1) << 62) >> 62


@cuda.jit
def literal_is_float64(x, out):
    """float32 * 0.1 is float64: the trap that halves the speed of a kernel."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 0.1


@cuda.jit
def index_makes_float64(x, out):
    """int64 * float32 is float64."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = i * x[i]


@cuda.jit
def short_unsigned_makes_float64(a, x, out):
    """uint16 * float32 is float64, as uint16 does not fit into int16."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = a[i] * x[i]


@cuda.jit
def sum_from_a_literal(x, out):
    """A sum that starts at 0.0 is float64 all the way."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = 0.0
        for i in range(x.shape[1]):
            total += x[row, i]
        out[row] = total


@cuda.jit
def root_stays_float32(x, out):
    """math.sqrt of a float32 is float32."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sqrt(x[i])


@cuda.jit
def paths_meet_in_float64(x, out):
    """A variable has one type where two paths meet."""
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        if i % 2:
            value = 0.5
        out[i] = value / 3


@cuda.jit
def integer_argument_is_int64(x, n, out):
    """An argument of 3 is int64, which float32 does not absorb."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / n


def launches(rng):
    n, threads = 40, 32
    single = rng.standard_normal(n).astype(np.float32)
    wide = single.astype(np.float64)
    index = np.arange(n, dtype=np.int64)

    def on(kernel, *args, want):
        return kernel, 2, threads, (*args, np.zeros(n, want.dtype)), want

    a, b = rng.integers(100, 127, (2, n)).astype(np.int8)
    yield on(small_integers_widen, a, b, want=a.astype(np.int64) + b)
    yield on(unsigned_minus_literal, np.zeros(n, np.uint8), want=np.full(n, -1, np.int64))
    large = rng.integers(2**29, 2**31 - 1, n).astype(np.int32)
    yield on(shift_widens, large, want=large.astype(np.int64) << 8)
    odd = rng.integers(2**60, 2**61, n) | 1
    yield on(unsigned_with_signed, odd.astype(np.uint64), odd, want=odd + odd)
    yield on(index_wraps, want=np.int64(index + 1 << 62) >> 62)
    yield on(literal_is_float64, single, want=wide * 0.1)
    yield on(index_makes_float64, single, want=index * wide)
    short = rng.integers(0, 2**16, n).astype(np.uint16)
    yield on(short_unsigned_makes_float64, short, single, want=short * wide)
    rows = rng.standard_normal((n, 9)).astype(np.float32)
    yield on(sum_from_a_literal, rows, want=np.cumsum(rows, axis=1, dtype=np.float64)[:, -1])
    yield on(root_stays_float32, np.abs(single), want=np.sqrt(np.abs(single)).astype(np.float64))
    yield on(paths_meet_in_float64, single, want=np.where(index % 2, 0.5, wide) / 3)
    yield on(integer_argument_is_int64, single, 3, want=wide / 3)
