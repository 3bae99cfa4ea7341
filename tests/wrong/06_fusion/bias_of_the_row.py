# expect: bias_gelu: wrong result
# The bias belongs to the column; this one goes by the row.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def bias_gelu(x, bias, y):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        v = x[row, col] + bias[row % bias.size]
        inner = np.float32(0.7978845608) * (v + np.float32(0.044715) * v * v * v)
        y[row, col] = np.float32(0.5) * v * (np.float32(1) + math.tanh(inner))
