"""Shared, local and constant arrays of any type; tuples and vector types."""

import numpy as np
from numba import boolean, cuda, float32, float64, int8
from numba.types import float16

SIZE = 8
TABLE = np.array([2.5, -1.0, 4.0, 0.25])
GRID = np.array([[0, 1, 2], [3, 4, 5]], dtype=np.int32)


@cuda.jit
def constants(x, out):
    """Arrays outside the kernel, as constants."""
    i = cuda.grid(1)
    if i < x.size:
        table = cuda.const.array_like(TABLE)
        grid = cuda.const.array_like(GRID)
        out[i] = (
            x[i] * table[i % 4]
            + TABLE[-1]
            + len(TABLE)
            + TABLE[1:][i % 3]
            + grid[i % 2, 1]
            + grid[1][i % 3]
            + grid.size
        )


@cuda.jit
def small_types(x, out):
    """Arrays of bytes, bools and half floats."""
    t, i = cuda.threadIdx.x, cuda.grid(1)
    flags = cuda.shared.array(SIZE, boolean)
    bytes_ = cuda.shared.array(shape=SIZE, dtype=int8)
    halves = cuda.local.array((2,), float16)
    flags[t] = x[i] > 0
    bytes_[t] = i
    halves[0] = x[i]
    halves[1] = 0.5
    cuda.syncthreads()
    out[i] = flags[SIZE - 1 - t] + bytes_[(t + 1) % SIZE] + float32(halves[0]) * float32(halves[1])


@cuda.jit
def in_a_branch(x, out):
    """An array that only some blocks make."""
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if cuda.blockIdx.x % 2 == 0:
        turned = cuda.shared.array(SIZE, dtype=float64)
        turned[t] = x[i]
        cuda.syncthreads()
        out[i] = turned[SIZE - 1 - t]


@cuda.jit
def tuples(x, out):
    i = cuda.grid(1)
    if i < x.size:
        nested = ((1, 2.5), (x[i], (i, 3)))
        (a, b), (c, (d, e)) = nested
        head = (a, d)
        pair = head + (e, 4)  # noqa: RUF005  (the sum of two tuples is what this tries)
        out[i] = (
            nested[1][1][-1]
            + b * c
            + pair[-1]
            + pair[i % 4]
            + len(pair)
            + len(pair[1:3])
            + pair[::-1][0]
        )
        out[i] += (
            (i in (1, 2, 5)) + (pair[1:] == (i, 3, 4)) + (pair != (1, 2, 3, 4)) + (i not in (1, 2))
        )


@cuda.jit
def by_numpy(x, table, out):
    """NumPy's functions of whole arrays, with an array for the results."""
    np.sin(x, out)
    np.maximum(out, table, out)
    row = out[1]
    np.minimum(row, table, row)


def launches(rng):
    yield by_numpy, 1, 1, (rng.standard_normal((3, 4)), rng.standard_normal(4), np.zeros((3, 4)))
    yield constants, 2, 16, (rng.standard_normal(30), np.zeros(30))
    yield (
        small_types,
        3,
        SIZE,
        (rng.integers(-4, 4, 3 * SIZE).astype(np.float64), np.zeros(3 * SIZE)),
    )
    yield in_a_branch, 3, SIZE, (rng.standard_normal(3 * SIZE), np.zeros(3 * SIZE))
    yield tuples, 2, 16, (rng.standard_normal(30), np.zeros(30))
