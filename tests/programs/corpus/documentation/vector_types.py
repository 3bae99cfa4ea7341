"""Vector types by both of their names, made from numbers and from parts."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def vt(p, out):
    i = cuda.grid(1)
    v = cuda.float32x3(p[i, 0], p[i, 1], p[i, 2])
    w = cuda.float3(v.x, v.y, 0)
    out[i] = v.x * w.x + v.y * w.y + v.z


def check():
    p = rng.random((32, 3), dtype=np.float32)
    o = np.zeros(32, np.float32)
    vt[1, 32](p, o)
    assert np.allclose(o, p[:, 0] ** 2 + p[:, 1] ** 2 + p[:, 2])
