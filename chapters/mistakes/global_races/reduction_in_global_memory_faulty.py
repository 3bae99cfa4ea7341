"""A tree over global memory without a barrier between its steps."""

# scope: warp, block
import numpy as np
from numba import cuda


@cuda.jit
def total(x, out):
    t = cuda.threadIdx.x
    stride = 1
    while stride < cuda.blockDim.x:
        if t % (2 * stride) == 0 and t + stride < x.size:
            x[t] += x[t + stride]  # expect: race
        stride *= 2
    if t == 0:
        out[0] = x[0]


def launch(rng):
    return total, 1, 128, (rng.integers(0, 99, 101), np.zeros(1, np.int64))
