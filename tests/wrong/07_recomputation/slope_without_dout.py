# expect: lean_backward: wrong result
# The slope of out, not of the loss: dout is forgotten.
import math

import numpy as np

from warpwise import cuda

ONE = np.float32(1)


@cuda.jit(device=True)
def sigmoid_of(v):
    return ONE / (ONE + math.exp(-v))


@cuda.jit
def lean_backward(x, dout, dx):
    i = cuda.grid(1)
    if i < x.size:
        a = sigmoid_of(x[i])
        b = sigmoid_of(a)
        c = sigmoid_of(b)
        dx[i] = (c * (ONE - c)) * (b * (ONE - b)) * (a * (ONE - a))
