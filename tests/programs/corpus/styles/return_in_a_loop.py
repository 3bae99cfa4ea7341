"""A device function that returns from within a loop: bisection."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit(device=True)
def bsearch(a, v):
    lo = 0
    hi = a.size - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if a[mid] == v:
            return mid
        elif a[mid] < v:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1


@cuda.jit
def k(a, q, r):
    i = cuda.grid(1)
    if i < q.size:
        r[i] = bsearch(a, q[i])


def check():
    a = np.unique(rng.integers(0, 200, 80))
    q = rng.integers(0, 200, 60)
    r = np.zeros(60, int)
    k[2, 32](a, q, r)
    assert (r == [np.where(a == v)[0][0] if v in a else -1 for v in q]).all()
