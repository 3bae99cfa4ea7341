# expect: minus_mirror: wrong result
# Takes the element from its mirror image.
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
        out[start + t] = part[size - 1 - t] - part[t]
