"""An array of its own for every thread."""

import numpy as np
from numba import cuda, float64, int64

SIZE = 6


@cuda.jit
def sort_rows(x, out):
    """Insertion sort of each row, every lane at its own pace."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        mine = cuda.local.array(SIZE, int64)
        for i in range(SIZE):
            value = x[row, i]
            k = i
            while k > 0 and mine[k - 1] > value:
                mine[k] = mine[k - 1]
                k -= 1
            mine[k] = value
        for i in range(SIZE):
            out[row, i] = mine[i]


@cuda.jit
def register_tile(a, b, out):
    """A 2 by 3 tile of sums for each thread."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        sums = cuda.local.array((2, 3), float64)
        for r in range(2):
            for c in range(3):
                sums[r, c] = 0.0
        for k in range(a.shape[1]):
            for r in range(2):
                for c in range(3):
                    sums[r, c] += a[i, k] * b[k, c] + r
        for r in range(2):
            for c in range(3):
                out[i, r, c] = sums[r, c]


@cuda.jit
def own_index(x, out):
    """A local array indexed by a value that differs between lanes."""
    i = cuda.grid(1)
    seen = cuda.local.array(SIZE, np.int64)
    for k in range(SIZE):
        seen[k] = 0
    if i < x.shape[0]:
        for k in range(x.shape[1]):
            seen[x[i, k]] += k + 1
        for k in range(SIZE):
            out[i, k] = seen[k] * 10 + seen[-1]


def launches(rng):
    for n, threads in [(40, 32), (11, 6)]:
        blocks = -(-n // threads)
        yield (
            sort_rows,
            blocks,
            threads,
            (rng.integers(-50, 50, (n, SIZE)), np.zeros((n, SIZE), np.int64)),
        )
        yield (
            register_tile,
            blocks,
            threads,
            (rng.standard_normal((n, 4)), rng.standard_normal((4, 3)), np.zeros((n, 2, 3))),
        )
        yield (
            own_index,
            blocks,
            threads,
            (rng.integers(0, SIZE, (n, 5)), np.zeros((n, SIZE), np.int64)),
        )
