# expect: fused_trig: out of bounds
# The guard compares with <=, so the thread just beyond the end works too.
import math

from warpwise import cuda


@cuda.jit
def fused_trig(x, a, b, y):
    i = cuda.grid(1)
    if i <= x.size:
        value = x[i]
        s, c = math.sin(value), math.cos(value)
        y[i] = a * s * s + b * c * c
