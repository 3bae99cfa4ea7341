"""The ballot is taken where only those who say yes arrive."""

import numpy as np
from numba import cuda


@cuda.jit
def positives(x, out):
    i = cuda.grid(1)
    if x[i] > 0:
        votes = cuda.ballot_sync(0xFFFFFFFF, True)  # expect: WarpMaskError
        out[i] = cuda.popc(votes)


def launch(rng):
    x = rng.integers(-9, 9, 128)
    x[::10] = 0
    return positives, 2, 64, (x, np.zeros(128, np.int64))
