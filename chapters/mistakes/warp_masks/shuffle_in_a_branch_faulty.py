"""Half a warp shuffles with a mask that names all of it."""

import numpy as np
from numba import cuda

FULL = 0xFFFFFFFF


@cuda.jit
def add_upper_half(x, out):
    lane = cuda.laneid
    value = x[lane]
    if lane < 16:
        value += cuda.shfl_down_sync(FULL, value, 16)  # expect: WarpMaskError
    out[lane] = value


def launch(rng):
    x = rng.standard_normal(32).astype(np.float32)
    return add_upper_half, 1, 32, (x, np.zeros_like(x))
