# expect: reverse: not a kernel feature
# Numbers of a thousand million digits.
import enum
import math

import numpy as np

from warpwise import cuda
BIG = 9 ** 9 ** 9 ** 9
TUPLE = (0,) * 10**9
TEXT = 'x' * 10**9


@cuda.jit
def reverse(x, out):
    v = 7 ** 7 ** 7 ** 7
    w = 1 << 10**9
    out[0] = v + w + BIG
