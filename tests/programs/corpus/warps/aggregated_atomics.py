"""Lanes with the same key make one atomic."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def agg(keys, cnt):
    i = cuda.grid(1)
    if i < keys.size:
        k = keys[i]
        mask = cuda.activemask()
        same = cuda.match_any_sync(mask, k)
        if cuda.laneid == cuda.ffs(same) - 1:
            cuda.atomic.add(cnt, k, cuda.popc(same))


def check():
    k = rng.integers(0, 5, 100).astype(np.int32)
    c = np.zeros(5, np.int32)
    agg[1, 128](k, c)
    assert (c == np.bincount(k)).all()
