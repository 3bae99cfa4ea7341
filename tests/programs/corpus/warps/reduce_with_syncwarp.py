"""The last warp of a reduction in shared memory, with syncwarp."""

import numpy as np
from numba import float32

from warpwise import cuda


@cuda.jit
def k(x, o):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if t < 32:
        v = s[t] + s[t + 32]
        cuda.syncwarp()
        s[t] = v
        cuda.syncwarp()
        d = 16
        while d:
            if t < d:
                s[t] += s[t + d]
            cuda.syncwarp()
            d >>= 1
    if t == 0:
        o[0] = s[0]


def check():
    x = np.arange(64, dtype=np.float32)
    o = np.zeros(1, np.float32)
    k[1, 64](x, o)
    assert o[0] == 2016
