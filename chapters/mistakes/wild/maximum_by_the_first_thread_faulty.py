"""Thread 0 looks for the block's maximum when all have stored their element. The barrier that
should wait for them stands in the branch of thread 0."""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def largest(x, out):
    s = cuda.shared.array(THREADS, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < x.size:
        s[t] = x[i]
        if t == 0:
            cuda.syncthreads()  # expect: BarrierError
            best = s[0]
            for j in range(1, min(THREADS, x.size - i)):
                best = max(best, s[j])
            out[cuda.blockIdx.x] = best


def launch(rng):
    return largest, 2, THREADS, (rng.integers(0, 999, 100), np.zeros(2, np.int64))
