# expect: standardise: over budget: flops_fp64
# Every literal with a point is float32 now; the length that divides is still an int64, and so is the 1.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def standardise(x, y, slope):
    col = cuda.grid(1)
    if col < x.shape[1]:
        total = np.float32(0.0)
        for row in range(x.shape[0]):
            total += x[row, col]
        mean = total / x.shape[0]
        squares = np.float32(0)
        for row in range(x.shape[0]):
            d = x[row, col] - mean
            squares += d * d
        scale = 1 / math.sqrt(squares / x.shape[0] + np.float32(1e-5))
        for row in range(x.shape[0]):
            v = (x[row, col] - mean) * scale
            if v < np.float32(0):
                v = np.float32(slope) * v
            y[row, col] = v
