"""Points to the nearest centre, and sums for the next centres."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def assign(p, c, lab, sums, cnt):
    i = cuda.grid(1)
    if i >= p.shape[0]:
        return
    best = -1
    bd = np.inf
    for k in range(c.shape[0]):
        d = 0.0
        for j in range(p.shape[1]):
            d += (p[i, j] - c[k, j]) ** 2
        if d < bd:
            bd = d
            best = k
    lab[i] = best
    for j in range(p.shape[1]):
        cuda.atomic.add(sums, (best, j), p[i, j])
    cuda.atomic.add(cnt, best, 1)


def check():
    p = rng.random((200, 3))
    c = p[:5].copy()
    lab = np.zeros(200, np.int32)
    s = np.zeros((5, 3))
    n = np.zeros(5, np.int32)
    assign[4, 64](p, c, lab, s, n)
    r = ((p[:, None] - c) ** 2).sum(-1).argmin(1)
    assert (lab == r).all() and (n == np.bincount(r, minlength=5)).all()
    assert np.allclose(s[2], p[r == 2].sum(0))
