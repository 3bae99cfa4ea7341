# expect: lean_backward: over budget: global_load_bytes
# It climbs from x[i] three times, and loads it three times.
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
        b = sigmoid_of(sigmoid_of(x[i]))
        c = sigmoid_of(sigmoid_of(sigmoid_of(x[i])))
        dx[i] = dout[i] * (c * (ONE - c)) * (b * (ONE - b)) * (a * (ONE - a))
