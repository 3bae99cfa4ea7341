"""Elimination, one launch for each column."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def gauss(a, k):
    j, i = cuda.grid(2)
    n = a.shape[0]
    i += k + 1
    j += k + 1
    if i < n and j < a.shape[1]:
        a[i, j] -= a[i, k] / a[k, k] * a[k, j]


def check():
    a = rng.random((20, 20)) + 20 * np.eye(20)
    u = a.copy()
    for k in range(19):
        gauss[(2, 2), (16, 16)](u, k)
    assert np.isclose(np.prod(np.diag(u)), np.linalg.det(a))
