"""The remainder by the thread's own number: thread 0 divides by zero."""

import numpy as np
from numba import cuda


@cuda.jit
def is_divisible(numbers, out):
    col, row = cuda.grid(2)
    divisor = np.uint32(col)
    if row < numbers.size:
        out[row, col] = numbers[row] % divisor == 0  # expect: ArithmeticFault


def launch(rng):
    numbers = rng.integers(0, 99, 10).astype(np.uint32)
    return is_divisible, (1, 3), (16, 4), (numbers, np.zeros((10, 16), np.bool_))
