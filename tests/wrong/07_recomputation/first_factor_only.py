# expect: gelu_backward: wrong result
# Half of the product rule: the slope of 0.5 * v, and not that of 1 + tanh u.
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
        dx[i] = dout[i] * HALF * (ONE + math.tanh(u))
