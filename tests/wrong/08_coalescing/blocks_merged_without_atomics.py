# expect: histogram: race
# The blocks share counts, and each loads and stores it as if it were alone.
import numpy as np

from warpwise import cuda


@cuda.jit
def histogram(x, counts):
    mine = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x
    if t < 128:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    if t < 128:
        counts[t] += mine[t]
