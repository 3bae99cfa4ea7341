"""Only the threads above the diagonal swap."""

from numba import cuda


@cuda.jit
def transpose(a):
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[0] and row < col:
        a[row, col], a[col, row] = a[col, row], a[row, col]


def launch(rng):
    return transpose, (2, 2), (8, 8), (rng.standard_normal((13, 13)),)


def expected(a):
    return a.T
