# expect: gelu_backward: wrong result
# The slope of the other GELU, with erf: off in the fourth digit.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def gelu_backward(x, dout, dx):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        bell = math.exp(-np.float32(0.5) * v * v) * np.float32(0.3989422804)
        dx[i] = dout[i] * (np.float32(0.5) * (np.float32(1) + math.erf(v * np.float32(0.7071067812))) + v * bell)
