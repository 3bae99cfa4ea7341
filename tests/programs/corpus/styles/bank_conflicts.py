"""Bank conflicts by stride, as the counters have them."""

import numpy as np
from numba import float32

from warpwise import cuda, trace


@cuda.jit
def k(o, s):
    sh = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    sh[t * s] = t
    cuda.syncthreads()
    o[t] = sh[t * s]


def check():
    for s, c in ((1, 0), (2, 1), (4, 3), (31, 0), (32, 31)):
        t = trace(k, 1, 32, np.zeros(32, np.float32), s)
        assert t.metrics.shared_bank_conflicts == 2 * c, (s, t.metrics)
