"""Questions to all lanes of a warp."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(x, o):
    t = cuda.threadIdx.x
    o[t, 0] = cuda.all_sync(0xFFFFFFFF, x[t] > 0)
    o[t, 1] = cuda.any_sync(0xFFFFFFFF, x[t] > 30)
    _, p = cuda.match_all_sync(0xFFFFFFFF, x[t] // 100)
    o[t, 2] = p
    o[t, 3] = cuda.eq_sync(0xFFFFFFFF, x[t] >= 0)


def check():
    o = np.zeros((32, 4), int)
    k[1, 32](np.arange(32), o)
    assert (o == [0, 1, 1, 1]).all()
