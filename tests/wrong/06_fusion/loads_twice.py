# expect: fused_trig: over budget: global_load_bytes
# Each function loads the element for itself.
import math

from warpwise import cuda


@cuda.jit
def fused_trig(x, a, b, y):
    i = cuda.grid(1)
    if i < x.size:
        s = math.sin(x[i])
        c = math.cos(x[i])
        y[i] = a * s * s + b * c * c
