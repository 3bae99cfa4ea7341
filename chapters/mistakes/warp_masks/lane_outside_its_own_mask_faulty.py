"""Both halves of the warp call syncwarp with the lower half's mask."""

import numpy as np
from numba import cuda


@cuda.jit
def neighbours_by_half(x, out):
    s = cuda.shared.array(32, np.float32)
    lane = cuda.threadIdx.x
    s[lane] = x[lane]
    mask = 0x0000FFFF
    cuda.syncwarp(mask)  # expect: WarpMaskError
    out[lane] = s[lane ^ 1]


def launch(rng):
    x = rng.standard_normal(32).astype(np.float32)
    return neighbours_by_half, 1, 32, (x, np.zeros_like(x))
