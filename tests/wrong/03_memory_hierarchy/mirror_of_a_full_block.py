# expect: minus_mirror: unwritten read
# Mirrors in 128 places, where the last piece has fewer.
import numpy as np

from warpwise import cuda


@cuda.jit
def minus_mirror(x, out):
    part = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    start = BLOCK * cuda.blockIdx.x
    size = min(BLOCK, x.size - start)
    if t < size:
        part[t] = x[start + t]
    cuda.syncthreads()
    if t < size:
        out[start + t] = part[t] - part[BLOCK - 1 - t]
