# expect: histogram: over budget: sectors_per_request_load
# Each thread takes values that lie next to each other, so its neighbours are far from it.
import numpy as np

from warpwise import cuda


@cuda.jit
def histogram(x, counts):
    mine = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x
    if t < 128:
        mine[t] = 0
    cuda.syncthreads()
    each = (x.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
    for i in range(each * cuda.grid(1), min(each * (cuda.grid(1) + 1), x.size)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    if t < 128:
        cuda.atomic.add(counts, t, mine[t])
