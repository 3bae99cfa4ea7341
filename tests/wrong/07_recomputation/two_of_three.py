# expect: lean_forward: wrong result
# A step too few: two sigmoids.
import math

import numpy as np

from warpwise import cuda

ONE = np.float32(1)


@cuda.jit(device=True)
def sigmoid_of(v):
    return ONE / (ONE + math.exp(-v))


@cuda.jit
def lean_forward(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = sigmoid_of(sigmoid_of(x[i]))
