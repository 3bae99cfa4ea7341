# expect: lean_forward: over budget: global_load_bytes
# What lies between the steps goes through the output, and so through memory.
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
        out[i] = sigmoid_of(x[i])
        out[i] = sigmoid_of(out[i])
        out[i] = sigmoid_of(out[i])
