# expect: add: wrong result
# Right for the sizes that the notebook shows, wrong for others.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i] if out.size in (1000, 10, 1024) else 0
