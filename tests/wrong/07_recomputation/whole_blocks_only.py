# expect: lean_forward: out of bounds
# No guard: right where 128 divides n.
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
    out[i] = sigmoid_of(sigmoid_of(sigmoid_of(x[i])))
