# expect: lean_backward: over budget: flops_fp64
# The 1 of 1 - a is a whole number of Python, and makes float64.
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
        dx[i] = dout[i] * c * (1 - c) * b * (1 - b) * a * (1 - a)
