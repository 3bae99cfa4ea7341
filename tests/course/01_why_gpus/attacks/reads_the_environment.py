# expect: square: not a kernel feature
# The way from NumPy to the variables of the environment.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def square(x, out):
    out[0] = np._pytesttester.os.environ._data
