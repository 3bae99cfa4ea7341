"""All take part; who has no element counts as false."""

import numpy as np
from numba import cuda


@cuda.jit
def above(x, limit, out):
    i = cuda.grid(1)
    more = i < x.size and x[i] > limit
    count = cuda.syncthreads_count(1 if more else 0)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = count


def launch(rng):
    return above, 3, 64, (rng.integers(0, 99, 150), 50, np.zeros(3, np.int64))


def expected(x, limit, out):
    return np.array([(part > limit).sum() for part in (x[:64], x[64:128], x[128:])])
