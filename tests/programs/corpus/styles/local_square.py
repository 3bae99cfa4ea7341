"""Two-by-two matrices in a local array are inverted; tuples are assigned to elements."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def inv2(m, o):
    i = cuda.grid(1)
    if i < m.shape[0]:
        a = cuda.local.array((2, 2), np.float64)
        for r in range(2):
            for c in range(2):
                a[r, c] = m[i, r, c]
        det = a[0, 0] * a[1, 1] - a[0][1] * a[1][0]
        o[i, 0, 0], o[i, 0, 1] = a[1, 1] / det, -a[0, 1] / det
        o[i, 1, 0], o[i, 1, 1] = -a[1, 0] / det, a[0, 0] / det


def check():
    m = rng.random((20, 2, 2)) + np.eye(2)
    o = np.zeros_like(m)
    inv2[1, 32](m, o)
    assert np.allclose(o, np.linalg.inv(m))
