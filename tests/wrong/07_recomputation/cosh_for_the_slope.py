# expect: gelu_backward: over budget: op_special
# The slope of tanh by way of cosh: right, and a second special function.
import math

import numpy as np

from warpwise import cuda

ROOT = np.float32(0.7978845608)
CUBIC = np.float32(0.044715)
HALF = np.float32(0.5)
ONE = np.float32(1)


@cuda.jit
def gelu_backward(x, dout, dx):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        u = ROOT * (v + CUBIC * v * v * v)
        c = math.cosh(u)
        slope_of_u = ROOT * (ONE + np.float32(3) * CUBIC * v * v)
        dx[i] = dout[i] * HALF * (ONE + math.tanh(u) + v / (c * c) * slope_of_u)
