# expect: fused_trig: wrong result
# The weights go into the squares.
import math

from warpwise import cuda


@cuda.jit
def fused_trig(x, a, b, y):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        s, c = a * math.sin(value), b * math.cos(value)
        y[i] = s * s + c * c
