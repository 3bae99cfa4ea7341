# expect: blend: over budget: global_bytes_moved
# Each thread takes two neighbours, so the lanes of a warp read every other element, twice.
import numpy as np

from warpwise import cuda


@cuda.jit
def blend(a, b, t, y):
    i = cuda.grid(1)
    for k in range(2):
        e = 2 * i + k
        if e < y.size:
            y[e] = (np.float32(1) - t) * np.float32(a[e]) + t * np.float32(b[e])
