"""The smallest label spreads over connected nodes; threads raise one flag by an atomic."""

import numpy as np

from warpwise import cuda


@cuda.jit
def spread(old, new, left, right, changed):
    e = cuda.grid(1)
    if e < left.size:
        a = old[left[e]]
        b = old[right[e]]
        if a != b:
            cuda.atomic.min(new, right[e] if a < b else left[e], min(a, b))
            cuda.atomic.max(changed, 0, 1)


def check():
    left, right = np.arange(9), np.arange(1, 10)
    old = np.arange(10)
    changed = np.ones(1, np.int32)
    rounds = 0
    while changed[0]:
        changed[0] = 0
        new = old.copy()
        rounds += 1
        spread[1, 32](old, new, left, right, changed)
        old = new
    assert (old == 0).all() and rounds == 10
