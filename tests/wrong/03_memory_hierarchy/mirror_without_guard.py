# expect: minus_mirror: out of bounds
# Threads beyond the end of x load all the same.
import numpy as np

from warpwise import cuda


@cuda.jit
def minus_mirror(x, out):
    part = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    start = BLOCK * cuda.blockIdx.x
    size = min(BLOCK, x.size - start)
    part[t] = x[start + t]
    cuda.syncthreads()
    if t < size:
        out[start + t] = part[t] - part[size - 1 - t]
