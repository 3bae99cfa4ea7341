# expect: square: not a kernel feature
# The way from an array to every class of the process.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def square(x, out):
    for kind in x.__class__.__mro__[-1].__subclasses__():
        out[0] = kind
