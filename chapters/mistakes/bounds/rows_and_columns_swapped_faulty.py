"""The indices of a matrix with more columns than rows are the wrong way round."""

from numba import cuda


@cuda.jit
def add_one(a):
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        a[col, row] += 1  # expect: OutOfBoundsError


def launch(rng):
    return add_one, (3, 2), (8, 4), (rng.integers(0, 99, (7, 20)),)
