"""A loop over an array's elements and one over its indices; ndim, size and len."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def k(o, x):
    i = cuda.grid(1)
    n, m = x.shape
    if i < n and x.ndim == 2 and x.size == n * m and len(x) == n:
        row = x[i]
        tot = 0.0
        for v in row:
            tot += v
        for idx in range(row.shape[0]):
            tot += row[idx]
        o[i] = tot


def check():
    x = rng.random((7, 5))
    o = np.zeros(7)
    k[1, 32](o, x)
    assert np.allclose(o, 2 * x.sum(1))
