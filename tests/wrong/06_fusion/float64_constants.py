# expect: bias_gelu: over budget: flops_fp64
# The constants of the formula are float64, and so is all that they meet.
import math

from warpwise import cuda

ROOT = 0.7978845608028654
CUBIC = 0.044715


@cuda.jit
def bias_gelu(x, bias, y):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        v = x[row, col] + bias[col]
        y[row, col] = 0.5 * v * (1 + math.tanh(ROOT * (v + CUBIC * v**3)))
