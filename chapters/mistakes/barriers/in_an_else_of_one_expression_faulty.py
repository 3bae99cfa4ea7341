"""A conditional expression asks for the block's vote in one of its two ways only."""

import numpy as np
from numba import cuda


@cuda.jit
def marks(x, out):
    i = cuda.grid(1)
    mine = 1 if x[i] == 0 else 0
    found = 1 if mine else cuda.syncthreads_or(mine)  # expect: BarrierError
    out[i] = 1 if found else 0


def launch(rng):
    x = rng.integers(1, 9, 128)
    x[[3, 20]] = 0
    return marks, 2, 64, (x, np.zeros(128, np.int64))
