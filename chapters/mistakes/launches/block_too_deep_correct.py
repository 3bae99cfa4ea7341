"""The long axis is x."""

from numba import cuda


@cuda.jit
def add(a, b):
    i = cuda.threadIdx.x
    b[i] += a[i]


def launch(rng):
    return add, 1, (128, 1, 1), (rng.integers(0, 9, 128), rng.integers(0, 9, 128))


def expected(a, b):
    return a + b
