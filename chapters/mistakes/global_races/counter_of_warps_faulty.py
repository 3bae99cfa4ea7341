"""One thread of each warp adds to a counter with +=, so that warps overwrite each other's sums."""

# scope: block
import numpy as np
from numba import cuda


@cuda.jit
def count_large(x, count):
    t = cuda.threadIdx.x
    votes = 0
    if t % 32 == 0:
        for k in range(32):
            votes += x[t + k] > 50
        count[0] += votes  # expect: race


def launch(rng):
    return count_large, 1, 256, (rng.integers(0, 99, 256), np.zeros(1, np.int64))
