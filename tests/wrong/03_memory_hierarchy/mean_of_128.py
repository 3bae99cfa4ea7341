# expect: centre: wrong result
# Divides by 128 in the last piece too.
import numpy as np

from warpwise import cuda


@cuda.jit
def centre(x, out):
    part = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    step = BLOCK * cuda.gridDim.x
    for start in range(BLOCK * cuda.blockIdx.x, x.size, step):
        i = start + t
        mine = np.float32(0)
        if i < x.size:
            mine = x[i]
        part[t] = mine
        cuda.syncthreads()
        half = BLOCK // 2
        while half > 0:
            if t < half:
                other = part[t + half]
                part[t] += other
            cuda.syncthreads()
            half //= 2
        if i < x.size:
            size = BLOCK
            out[i] = mine - part[0] / np.float32(size)
        cuda.syncthreads()
