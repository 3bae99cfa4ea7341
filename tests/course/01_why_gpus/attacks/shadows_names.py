# expect: square: not a kernel feature
# Names of Python, NumPy and CUDA bound to something else.
# alone
import enum
import math

import numpy as np

from warpwise import cuda
range = len = print = 3
cuda.grid = lambda n: 0
math = np = 'text'


@cuda.jit
def square(x, out):
    for i in range(3):
        out[i] = len(x)
