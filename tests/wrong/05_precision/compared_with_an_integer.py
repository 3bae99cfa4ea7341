# expect: standardise: over budget: op_fp64
# The arithmetic is float32; v < 0 converts v to float64 to compare it with an int64.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def standardise(x, y, slope):
    col = cuda.grid(1)
    if col < x.shape[1]:
        n = np.float32(x.shape[0])
        total = np.float32(0)
        for row in range(x.shape[0]):
            total += x[row, col]
        mean = total / n
        squares = np.float32(0)
        for row in range(x.shape[0]):
            d = x[row, col] - mean
            squares += d * d
        scale = np.float32(1) / math.sqrt(squares / n + np.float32(1e-5))
        for row in range(x.shape[0]):
            v = (x[row, col] - mean) * scale
            if v < 0:
                v = np.float32(slope) * v
            y[row, col] = v
