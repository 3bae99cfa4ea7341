# expect: bias_gelu: wrong result
# The other form of GELU, with the error function: it differs in the fourth digit.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def bias_gelu(x, bias, y):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        v = x[row, col] + bias[col]
        y[row, col] = np.float32(0.5) * v * (np.float32(1) + math.erf(v * np.float32(0.70710678)))
