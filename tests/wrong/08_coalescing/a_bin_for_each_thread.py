# expect: histogram: over budget: global_bytes_moved
# No atomics at all: each thread of one block counts its own bin, and reads all of x for it.
import numpy as np

from warpwise import cuda


@cuda.jit
def histogram(x, counts):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0 and t < 128:
        mine = np.int32(0)
        for i in range(x.size):
            if x[i] == t:
                mine += 1
        counts[t] = mine
