"""A hash and a generator, with assignments that operate on unsigned integers."""

import numpy as np
from numba import uint32, uint64

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def k(a, o):
    i = cuda.grid(1)
    h = uint32(2166136261)
    for j in range(4):
        h ^= uint32((a[i] >> uint32(8 * j)) & uint32(0xFF))
        h = uint32(h * uint32(16777619))
    o[i] = h


@cuda.jit
def xs(s, o):
    i = cuda.grid(1)
    x = s[i]
    x ^= x << uint64(13)
    x ^= x >> uint64(7)
    x ^= x << uint64(17)
    o[i] = x


def check():
    a = rng.integers(0, 2**32, 32, dtype=np.uint32)
    o = np.zeros(32, np.uint32)
    k[1, 32](a, o)
    h = np.full(32, 2166136261, np.uint64)
    for j in range(4):
        h ^= (a.astype(np.uint64) >> np.uint64(8 * j)) & np.uint64(255)
        h = h * np.uint64(16777619) % np.uint64(2**32)
    assert (o == h).all()
    s = rng.integers(1, 2**63, 32, dtype=np.uint64)
    o = np.zeros(32, np.uint64)
    xs[1, 32](s, o)
    x = s.copy()
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    assert (o == x).all()
