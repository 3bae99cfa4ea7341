"""The row comes first."""

from numba import cuda


@cuda.jit
def add_one(a):
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        a[row, col] += 1


def launch(rng):
    return add_one, (3, 2), (8, 4), (rng.integers(0, 99, (7, 20)),)


def expected(a):
    return a + 1
