"""A grid-stride loop whose stride is one too short: the last thread's element is the first thread's
next."""

# scope: grid
from numba import cuda


@cuda.jit
def grow(y, factor):
    stride = cuda.gridsize(1) - 1
    for i in range(cuda.grid(1), y.size, stride):
        y[i] = y[i] * factor + 1  # expect: race


def launch(rng):
    return grow, 3, 32, (rng.integers(0, 99, 300), 3)
