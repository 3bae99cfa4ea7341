# expect: lean_backward: wrong result
# v * (1 - v) with the input of each sigmoid, where its result belongs.
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
        v = x[i]
        a = sigmoid_of(v)
        b = sigmoid_of(a)
        dx[i] = dout[i] * (b * (ONE - b)) * (a * (ONE - a)) * (v * (ONE - v))
