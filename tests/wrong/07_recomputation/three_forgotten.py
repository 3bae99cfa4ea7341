# expect: gelu_backward: wrong result
# The slope of v cubed without its 3.
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
        t = math.tanh(u)
        dx[i] = dout[i] * HALF * (ONE + t + v * (ONE - t * t) * ROOT * (ONE + CUBIC * v * v))
