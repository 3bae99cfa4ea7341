"""Records in shared memory."""

import numba
import numpy as np

from warpwise import cuda

pt = np.dtype([("x", "f4"), ("y", "f4")])
pt_t = numba.from_dtype(pt)


@cuda.jit
def k(p, o):
    s = cuda.shared.array(32, pt_t)
    t = cuda.threadIdx.x
    s[t].x = p[t].x
    s[t].y = p[t].y
    cuda.syncthreads()
    o[t] = s[31 - t].x - s[31 - t].y


def check():
    p = np.zeros(32, pt)
    p["x"] = np.arange(32)
    p["y"] = 1
    o = np.zeros(32)
    k[1, 32](p, o)
    assert (o == np.arange(32)[::-1] - 1).all()
