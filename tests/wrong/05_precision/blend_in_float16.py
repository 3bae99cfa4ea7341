# expect: blend: wrong result
# t becomes a float16, and everything is rounded three times.
import numpy as np

from warpwise import cuda


@cuda.jit
def blend(a, b, t, y):
    i = cuda.grid(1)
    if i < y.size:
        s = np.float16(t)
        y[i] = (np.float16(1) - s) * a[i] + s * b[i]
