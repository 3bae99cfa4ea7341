"""The largest of many numbers by atomics, with one index and with a tuple of three."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def largest(result, numbers):
    i = cuda.grid(1)
    cuda.atomic.max(result, 0, numbers[i])


@cuda.jit
def largest_of_volume(result, numbers):
    x, y, z = cuda.grid(3)
    cuda.atomic.max(result, (1, 0, 1), numbers[x, y, z])


def check():
    numbers, result = rng.random(4096), np.zeros(1)
    largest[64, 64](result, numbers)
    assert result[0] == numbers.max()
    volume, result = rng.random((8, 8, 8)), np.zeros((2, 2, 2))
    largest_of_volume[(2, 2, 2), (4, 4, 4)](result, volume)
    assert result[1, 0, 1] == volume.max() and np.count_nonzero(result) == 1
