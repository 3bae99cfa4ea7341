"""The mask of the first n lanes lacks its "- 1" and names lane n alone."""

import numpy as np
from numba import cuda


@cuda.jit
def first_of_group(x, n, out):
    lane = cuda.laneid
    if lane < n:
        mask = 1 << n
        out[lane] = x[lane] - cuda.shfl_sync(mask, x[lane], 0)  # expect: WarpMaskError


def launch(rng):
    x = rng.standard_normal(32)
    return first_of_group, 1, 32, (x, 12, np.zeros(32))
