"""Where the largest number is, by one atomic on value and place packed into 64 bits."""

import numpy as np
from numba import int64

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def argmax(x, best):
    i = cuda.grid(1)
    if i < x.size:
        packed = (int64(x[i]) << 32) | int64(0xFFFFFFFF - i)
        cuda.atomic.max(best, 0, packed)


def check():
    x = rng.integers(0, 100, 1000).astype(np.int32)
    b = np.array([np.iinfo(np.int64).min])
    argmax[4, 256](x, b)
    assert 0xFFFFFFFF - (int(b[0]) & 0xFFFFFFFF) == x.argmax() and b[0] >> 32 == x.max()
