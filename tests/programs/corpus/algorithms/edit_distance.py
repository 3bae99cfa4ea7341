"""Edit distance to each of several words, in two local rows."""

import numpy as np
from numba import int32

from warpwise import cuda


@cuda.jit
def lev(a, bs, lens, out):
    i = cuda.grid(1)
    if i < out.size:
        prev = cuda.local.array(17, int32)
        cur = cuda.local.array(17, int32)
        n = lens[i]
        for j in range(n + 1):
            prev[j] = j
        for p in range(a.size):
            cur[0] = p + 1
            for j in range(n):
                cost = 0 if a[p] == bs[i, j] else 1
                cur[j + 1] = min(cur[j] + 1, prev[j + 1] + 1, prev[j] + cost)
            for j in range(n + 1):
                prev[j] = cur[j]
        out[i] = prev[n]


def check():
    a = np.frombuffer(b"kitten", np.uint8)
    w = [b"sitting", b"kitten", b"kit"]
    bs_ = np.zeros((3, 16), np.uint8)
    for i, s in enumerate(w):
        bs_[i, : len(s)] = np.frombuffer(s, np.uint8)
    o = np.zeros(3, np.int32)
    lev[1, 32](a, bs_, np.array([7, 6, 3]), o)
    assert list(o) == [3, 0, 3]
