# expect: centre: input changed
# The right result, but the input holds something else then.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def centre(x, mean, out):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[row, col] = x[row, col] - mean[col]
        x[row, col] = 0
