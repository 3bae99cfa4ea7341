"""The barrier stands behind an "and", which leaves out the threads whose first condition is
false."""

import numpy as np
from numba import cuda


@cuda.jit
def zero_if_all_small(x, out):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t % 2 == 0 and cuda.syncthreads_and(1 if x[i] < 10 else 0):  # expect: BarrierError
        out[i] = 0
    else:
        out[i] = x[i]


def launch(rng):
    x = rng.integers(1, 9, 128)
    x[100] = 50
    return zero_if_all_small, 2, 64, (x, np.zeros_like(x))
