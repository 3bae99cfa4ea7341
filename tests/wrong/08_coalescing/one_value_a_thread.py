# expect: histogram: wrong result
# No loop: values beyond the number of threads are not counted.
import numpy as np

from warpwise import cuda


@cuda.jit
def histogram(x, counts):
    mine = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x
    if t < 128:
        mine[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    if t < 128:
        cuda.atomic.add(counts, t, mine[t])
