# expect: add: not a kernel feature
# A list of a thousand million numbers, and a set of them.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def add(a, b, out):
    out[0] = sum([k for k in range(10**9)])
    v = {k: [0] * k for k in range(10**9)}
