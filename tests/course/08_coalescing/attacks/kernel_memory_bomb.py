# expect: transpose: not a kernel feature
# Asks for an array of a terabyte for each thread.
import numpy as np

from warpwise import cuda


@cuda.jit
def transpose(src, dst):
    held = cuda.local.array(250_000_000_000, np.float32)
    held[0] = src[0, 0]
    dst[0, 0] = held[0]
