"""Lanes with an even key look for their equals in a mask of all lanes."""

import numpy as np
from numba import cuda


@cuda.jit
def equals(keys, out):
    i = cuda.grid(1)
    key = keys[i]
    if key % 2 == 0:
        same = cuda.match_any_sync(0xFFFFFFFF, key)  # expect: WarpMaskError
        out[i] = cuda.popc(same)


def launch(rng):
    keys = np.concatenate([np.arange(6), rng.integers(0, 6, 58)]).astype(np.int32)
    return equals, 1, 64, (keys, np.zeros(64, np.int32))
