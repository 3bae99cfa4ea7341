# expect: fused_trig: over budget: global_load_bytes
# The output serves as a variable: its first half is written, read again and written again.
import math

from warpwise import cuda


@cuda.jit
def fused_trig(x, a, b, y):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        y[i] = a * math.sin(value) ** 2
        y[i] += b * math.cos(value) ** 2
