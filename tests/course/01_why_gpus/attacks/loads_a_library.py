# expect: reverse: not a kernel feature
# Names a library to be loaded, by an attribute that loads it when it is looked up.
import enum
import math

import numpy as np

from warpwise import cuda
LIBRARY = np._core._internal.ctypes.cdll.pwned


@cuda.jit
def reverse(x, out):
    load = np._core._internal.ctypes.cdll.pwned
    out[0] = 1
