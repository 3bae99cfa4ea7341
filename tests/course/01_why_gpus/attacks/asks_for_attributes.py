# expect: centre: not a kernel feature
# getattr, vars and type, which would lead to Python's own objects.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def centre(x, mean, out):
    out[0, 0] = getattr(x, "__class__")
    vars(x)
    type(x)(0)
