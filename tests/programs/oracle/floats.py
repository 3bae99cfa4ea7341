"""Floating point: float32 among itself, float64 among itself, the two mixed, and what min, max and
abs make of them."""

import numpy as np
from numba import cuda


@cuda.jit
def four_operations(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + b[i]
        out[i, 1] = a[i] - b[i]
        out[i, 2] = a[i] * b[i]
        out[i, 3] = a[i] / b[i]


@cuda.jit
def horner(x, c, out):
    """A polynomial; with ``c`` and ``x`` of one type every step stays in that type."""
    i = cuda.grid(1)
    if i < x.size:
        value = c[0]
        for k in range(1, c.size):
            value = value * x[i] + c[k]
        out[i] = value


@cuda.jit
def accumulate(x, out):
    """The sum starts in the type of the array: float32 among float32."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = x[row, 0]
        for i in range(1, x.shape[1]):
            total += x[row, i]
        out[row] = total


@cuda.jit
def mixed(narrow, wide, out):
    """float32 with float64 is float64."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = narrow[i] * wide[i] + narrow[i]


@cuda.jit
def extremes(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = min(a[i], b[i])
        out[i, 1] = max(a[i], b[i])
        out[i, 2] = abs(a[i])
        out[i, 3] = -a[i]


@cuda.jit
def divide_integers(a, b, out):
    """``/`` is always floating point."""
    i = cuda.grid(1)
    if i < a.size and b[i] != 0:
        out[i] = a[i] / b[i] + i / 3


@cuda.jit
def floor_floats(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] // b[i]
        out[i, 1] = a[i] % b[i]


@cuda.jit
def literal_casts(x, out):
    """A literal made float32 keeps the arithmetic there."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = np.float32(0.1) * x[i] + np.float32(3)


@cuda.jit
def narrowed(x, out):
    """float64 arithmetic, one rounding at the store."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 0.1 + 3.0


@cuda.jit
def cast_there_and_back(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = float(np.float32(x[i])) - x[i]


@cuda.jit
def axpy_of_scalars(a, b, x, out):
    """Scalar arguments of different types."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = a * x[i] + b


@cuda.jit
def compare_floats(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = (x[i] < y[i]) + 2 * (x[i] <= y[i]) + 4 * (x[i] == y[i]) + 8 * (x[i] > 0.5)


def launches(rng):
    for n, threads in [(40, 32), (19, 8)]:
        blocks = -(-n // threads)
        for dtype in (np.float32, np.float64):

            def values(*shape, n=n, dtype=dtype):
                return (rng.standard_normal(shape or n) * 9).astype(dtype)

            yield four_operations, blocks, threads, (values(), values(), values(n, 4))
            yield horner, blocks, threads, (values(), values(5), values())
            yield accumulate, blocks, threads, (values(n, 6), values())
            yield extremes, blocks, threads, (values(), values(), values(n, 4))
            yield floor_floats, blocks, threads, (values(), values(), np.zeros((n, 2), dtype))
            yield (
                compare_floats,
                blocks,
                threads,
                (values(), np.round(values()), np.zeros(n, np.int64)),
            )
        double, single = rng.standard_normal(n), rng.standard_normal(n).astype(np.float32)
        yield mixed, blocks, threads, (single, double, np.zeros(n))
        yield literal_casts, blocks, threads, (single, np.zeros(n, np.float32))
        yield narrowed, blocks, threads, (double, np.zeros(n, np.float32))
        yield cast_there_and_back, blocks, threads, (double, np.zeros(n))
        yield (
            divide_integers,
            blocks,
            threads,
            (rng.integers(-9, 9, n), rng.integers(-3, 3, n), np.zeros(n)),
        )
        yield axpy_of_scalars, blocks, threads, (2.5, 3, double, np.zeros(n))
        yield (
            axpy_of_scalars,
            blocks,
            threads,
            (np.float64(0.1), -1.0, double, np.zeros(n, np.float32)),
        )
