# expect: histogram: race
# No barrier between clearing the block's counts and counting.
import numpy as np

from warpwise import cuda


@cuda.jit
def histogram(x, counts):
    mine = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x
    if t < 128:
        mine[t] = 0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    if t < 128:
        cuda.atomic.add(counts, t, mine[t])
