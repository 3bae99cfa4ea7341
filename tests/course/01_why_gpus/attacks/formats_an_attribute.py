# expect: add: not a kernel feature
# An f-string and a format that reach for attributes.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def add(a, b, out):
    text = f"{a.__class__.__init__.__globals__}"
    print("{0.__class__}".format(a))
    out[0] = 1
