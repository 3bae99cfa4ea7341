# expect: reverse: wrong result
# Infinity, which a relative comparison could let through.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def reverse(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = math.inf
