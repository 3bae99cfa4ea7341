"""All lanes look for their equals; the odd ones do not use the answer."""

import numpy as np
from numba import cuda


@cuda.jit
def equals(keys, out):
    i = cuda.grid(1)
    key = keys[i]
    same = cuda.match_any_sync(0xFFFFFFFF, key)
    if key % 2 == 0:
        out[i] = cuda.popc(same)


def launch(rng):
    keys = np.concatenate([np.arange(6), rng.integers(0, 6, 58)]).astype(np.int32)
    return equals, 1, 64, (keys, np.zeros(64, np.int32))


def expected(keys, out):
    warps = keys.reshape(2, 32)
    return np.where(keys % 2 == 0, (warps[:, :, None] == warps[:, None, :]).sum(axis=2).ravel(), 0)
