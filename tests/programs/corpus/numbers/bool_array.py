"""An array of truth values, read and written."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(m, x, o):
    i = cuda.grid(1)
    if i < x.size and not m[i]:
        o[i] = x[i]
        m[i] = x[i] > 3
    elif i < x.size:
        o[i] = -1


def check():
    m = np.arange(10) % 2 == 0
    m0 = m.copy()
    x = np.arange(10.0)
    o = np.zeros(10)
    k[1, 32](m, x, o)
    assert (o == np.where(m0, -1, x)).all() and (m == np.where(m0, m0, x > 3)).all()
