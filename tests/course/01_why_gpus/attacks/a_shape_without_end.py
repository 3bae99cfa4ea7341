# expect: centre: not a kernel feature
# Shared and local arrays of a thousand million elements, and shapes with a thousand dimensions.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def centre(x, mean, out):
    a = cuda.shared.array((10**9, 10**9), np.float64)
    b = cuda.local.array((2,) * 1000, np.float64)
    out[0, 0] = a[0, 0]
