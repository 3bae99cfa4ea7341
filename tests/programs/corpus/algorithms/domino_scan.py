"""A scan over blocks: each waits for the sum of the blocks before it."""

import numpy as np
from numba import float32, int32

from warpwise import cuda

rng = np.random.default_rng(3)

B = 32


@cuda.jit
def domino(x, y, flags, scan_value, counter):
    bid_s = cuda.shared.array(1, int32)
    prev_s = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        bid_s[0] = cuda.atomic.inc(counter, 0, 0xFFFFFFFF)
    cuda.syncthreads()
    bid = bid_s[0]
    i = bid * B + t
    v = x[i]
    d = 1
    while d < 32:
        u = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
        if t >= d:
            v += u
        d *= 2
    if t == 31:
        while cuda.atomic.cas(flags, bid, 1, 1) == 0:
            cuda.nanosleep(20)
        cuda.threadfence()
        p = scan_value[bid]
        prev_s[0] = p
        scan_value[bid + 1] = p + v
        cuda.threadfence()
        cuda.atomic.exch(flags, bid + 1, 1)
    cuda.syncthreads()
    y[i] = v + prev_s[0]


def check():
    nb = 5
    x = rng.integers(0, 9, nb * B).astype(np.float32)
    y = np.zeros_like(x)
    flags = np.zeros(nb + 1, np.int32)
    flags[0] = 1
    domino[nb, B](x, y, flags, np.zeros(nb + 1, np.float32), np.zeros(1, np.uint32))
    assert (y == np.cumsum(x)).all()
