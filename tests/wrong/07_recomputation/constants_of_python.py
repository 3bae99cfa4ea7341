# expect: gelu_backward: over budget: flops_fp64
# 0.5 and 0.044715 as they stand are float64.
import math

from warpwise import cuda


@cuda.jit
def gelu_backward(x, dout, dx):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        t = math.tanh(0.7978845608 * (v + 0.044715 * v * v * v))
        dx[i] = dout[i] * 0.5 * (1 + t + v * (1 - t * t) * 0.7978845608 * (1 + 3 * 0.044715 * v * v))
