"""The number of blocks is rounded down: for fewer elements than a block has threads it is 0."""

from numba import cuda

THREADS = 128


@cuda.jit
def clip(x, low, high):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = min(max(x[i], low), high)


def launch(rng):  # expect: LaunchError at least 1
    x = rng.integers(0, 99, 100)
    return clip, x.size // THREADS, THREADS, (x, 20, 60)
