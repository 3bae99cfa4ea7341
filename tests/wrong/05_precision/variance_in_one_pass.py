# expect: standardise: wrong result
# The mean of the squares minus the square of the mean: the difference has lost its digits where the spread is small.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def standardise(x, y, slope):
    col = cuda.grid(1)
    if col < x.shape[1]:
        n, zero = np.float32(x.shape[0]), np.float32(0)
        total, squares = zero, zero
        for row in range(x.shape[0]):
            total += x[row, col]
            squares += x[row, col] * x[row, col]
        mean = total / n
        scale = np.float32(1) / math.sqrt(squares / n - mean * mean + np.float32(1e-5))
        for row in range(x.shape[0]):
            v = (x[row, col] - mean) * scale
            y[row, col] = np.float32(slope) * v if v < zero else v
