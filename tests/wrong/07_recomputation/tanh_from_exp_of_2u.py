# expect: gelu_backward: wrong result
# exp(2u) is infinite for large x, and infinite over infinite is not a number.
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
        e = math.exp(np.float32(2) * u)
        t = (e - ONE) / (e + ONE)
        slope_of_u = ROOT * (ONE + np.float32(3) * CUBIC * v * v)
        dx[i] = dout[i] * HALF * (ONE + t + v * (ONE - t * t) * slope_of_u)
