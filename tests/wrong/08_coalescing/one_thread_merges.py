# expect: histogram: over budget: global_atomic_requests
# One thread adds up for its block: a request for each bin, with one lane.
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
    if t == 0:
        for k in range(128):
            cuda.atomic.add(counts, k, mine[k])
