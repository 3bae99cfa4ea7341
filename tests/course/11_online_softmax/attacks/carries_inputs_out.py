# expect: cross_entropy: out of bounds
# Its error names an index that is made from the hidden input.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def cross_entropy(x, labels, lse, loss):
    lse[10**9 + int(abs(x[0, 0]) * 1000)] = 1
