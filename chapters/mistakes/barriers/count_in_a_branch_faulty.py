"""Only threads with an element take part in the barrier that counts."""

import numpy as np
from numba import cuda


@cuda.jit
def above(x, limit, out):
    i = cuda.grid(1)
    count = 0
    if i < x.size:
        count = cuda.syncthreads_count(1 if x[i] > limit else 0)  # expect: BarrierError
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = count


def launch(rng):
    return above, 3, 64, (rng.integers(0, 99, 150), 50, np.zeros(3, np.int64))
