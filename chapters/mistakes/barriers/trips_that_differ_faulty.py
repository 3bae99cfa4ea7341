"""The threads of a block share the elements unevenly, so that some make one trip more through the
barrier."""

import numpy as np
from numba import cuda

THREADS = 32


@cuda.jit
def block_total(x, out):
    s = cuda.shared.array(THREADS, np.int64)
    t = cuda.threadIdx.x
    total = 0
    for k in range(t, x.size, THREADS):
        s[t] = x[k]
        cuda.syncthreads()  # expect: BarrierError
        total += s[THREADS - 1 - t]
        cuda.syncthreads()
    cuda.atomic.add(out, 0, total)


def launch(rng):
    return block_total, 1, THREADS, (rng.integers(0, 99, 75), np.zeros(1, np.int64))
