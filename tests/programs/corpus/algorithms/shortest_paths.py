"""Shortest paths between all nodes, one launch for each node between."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def fw(d, k):
    i, j = cuda.grid(2)
    if i < d.shape[0] and j < d.shape[0] and i != k and j != k:
        s = d[i, k] + d[k, j]
        if s < d[i, j]:
            d[i, j] = s


def check():
    d = rng.integers(1, 100, (20, 20)).astype(np.float32)
    np.fill_diagonal(d, 0)
    r = d.copy()
    for k in range(20):
        fw[(2, 2), (16, 16)](d, k)
        r = np.minimum(r, r[:, k : k + 1] + r[k : k + 1])
    assert (d == r).all()
