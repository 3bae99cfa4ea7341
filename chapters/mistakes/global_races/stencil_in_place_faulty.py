"""A recurrence taken for a stencil: y[i] is written while the thread to the right reads it."""

# scope: warp, block
from numba import cuda


@cuda.jit
def add_left(y):
    i = cuda.grid(1)
    if i > 0:
        y[i] = y[i - 1] + y[i]  # expect: race


def launch(rng):
    return add_left, 1, 64, (rng.integers(0, 99, 64),)
