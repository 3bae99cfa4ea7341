# expect: standardise: wrong result
# The small constant is added to the root, not below it: where the spread is large, nobody sees it.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def standardise(x, y, slope):
    col = cuda.grid(1)
    if col < x.shape[1]:
        n, zero = np.float32(x.shape[0]), np.float32(0)
        total = zero
        for row in range(x.shape[0]):
            total += x[row, col]
        mean = total / n
        squares = zero
        for row in range(x.shape[0]):
            d = x[row, col] - mean
            squares += d * d
        scale = np.float32(1) / (math.sqrt(squares / n) + np.float32(1e-5))
        for row in range(x.shape[0]):
            v = (x[row, col] - mean) * scale
            y[row, col] = np.float32(slope) * v if v < zero else v
