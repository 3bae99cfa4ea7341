# expect: bias_gelu: output not written
# The two numbers of cuda.grid(2) are taken the other way round, so the grid does not cover a wide matrix.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def bias_gelu(x, bias, y):
    row, col = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        v = x[row, col] + bias[col]
        inner = np.float32(0.7978845608) * (v + np.float32(0.044715) * v * v * v)
        y[row, col] = np.float32(0.5) * v * (np.float32(1) + math.tanh(inner))
