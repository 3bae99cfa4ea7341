"""Keys are put into an open hash table by compare-and-swap."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def insert(keys, table):
    i = cuda.grid(1)
    if i < keys.size:
        k = keys[i]
        h = (k * 2654435761) % table.size
        while True:
            old = cuda.atomic.cas(table, h, -1, k)
            if old == -1 or old == k:
                break
            h = (h + 1) % table.size


def check():
    ks = rng.integers(0, 1000, 200)
    t = np.full(512, -1)
    insert[4, 64](ks, t)
    assert sorted(t[t >= 0]) == sorted(set(ks))
