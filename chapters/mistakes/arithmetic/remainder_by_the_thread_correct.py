"""The numbers begin at one."""

import numpy as np
from numba import cuda


@cuda.jit
def is_divisible(numbers, out):
    col, row = cuda.grid(2)
    divisor = np.uint32(col + 1)
    if row < numbers.size:
        out[row, col] = numbers[row] % divisor == 0


def launch(rng):
    numbers = rng.integers(0, 99, 10).astype(np.uint32)
    return is_divisible, (1, 3), (16, 4), (numbers, np.zeros((10, 16), np.bool_))


def expected(numbers, out):
    return numbers[:, None] % np.arange(1, 17) == 0
