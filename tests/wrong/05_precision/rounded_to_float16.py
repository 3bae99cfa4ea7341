# expect: standardise: wrong result
# It goes the other way: what was float64 is float16 now, and the digits are gone.
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
        mean = np.float16(total / n)
        squares = np.float32(0)
        for row in range(x.shape[0]):
            d = x[row, col] - mean
            squares += d * d
        scale = np.float16(np.float32(1) / math.sqrt(squares / n + np.float32(1e-5)))
        for row in range(x.shape[0]):
            v = (x[row, col] - mean) * scale
            if v < np.float32(0):
                v = np.float32(slope) * v
            y[row, col] = v
