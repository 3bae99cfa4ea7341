# expect: blend: out of bounds
# Threads beyond the last element have nothing to read.
import numpy as np

from warpwise import cuda


@cuda.jit
def blend(a, b, t, y):
    i = cuda.grid(1)
    y[i] = (np.float32(1) - t) * np.float32(a[i]) + t * np.float32(b[i])
