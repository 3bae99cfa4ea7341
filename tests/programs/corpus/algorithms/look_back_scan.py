"""A scan over blocks that looks back at sums, partial or complete, of the blocks before."""

import numpy as np
from numba import int32

from warpwise import cuda

rng = np.random.default_rng(3)

B = 32


@cuda.jit
def scan(x, y, agg, inc, state):
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    ex = cuda.shared.array(1, int32)
    v = x[b * B + t]
    for d in (1, 2, 4, 8, 16):
        u = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
        if t >= d:
            v += u
    if t == B - 1:
        agg[b] = v
        cuda.threadfence()
        cuda.atomic.exch(state, b, 1)
        run = 0
        p = b - 1
        while p >= 0:
            st = cuda.atomic.or_(state, p, 0)
            if st == 2:
                cuda.threadfence()
                run += inc[p]
                break
            elif st == 1:
                cuda.threadfence()
                run += agg[p]
                p -= 1
        inc[b] = run + v
        cuda.threadfence()
        cuda.atomic.exch(state, b, 2)
        ex[0] = run
    cuda.syncthreads()
    y[b * B + t] = v + ex[0]


def check():
    x = rng.integers(0, 9, 8 * B).astype(np.int32)
    y = np.zeros_like(x)
    scan[8, B](x, y, np.zeros(8, np.int32), np.zeros(8, np.int32), np.zeros(8, np.int32))
    assert (y == np.cumsum(x)).all()
