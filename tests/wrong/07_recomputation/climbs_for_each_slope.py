# expect: lean_backward: over budget: op_special
# It loads no more than it should, but climbs from a again for each slope: four special functions in place of three.
import math

import numpy as np

from warpwise import cuda

ONE = np.float32(1)


@cuda.jit(device=True)
def sigmoid_of(v):
    return ONE / (ONE + math.exp(-v))


@cuda.jit(device=True)
def slope_of(s):
    return s * (ONE - s)


@cuda.jit
def lean_backward(x, dout, dx):
    i = cuda.grid(1)
    if i < x.size:
        a = sigmoid_of(x[i])
        dx[i] = dout[i] * slope_of(sigmoid_of(sigmoid_of(a))) * slope_of(sigmoid_of(a)) * slope_of(a)
