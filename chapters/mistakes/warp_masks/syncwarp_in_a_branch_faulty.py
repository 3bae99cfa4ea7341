"""A syncwarp for the whole warp is called by its even lanes."""

import numpy as np
from numba import cuda


@cuda.jit
def pairs(x, out):
    s = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    if t % 2 == 0:
        s[t // 2] = x[t] + x[t + 1]
        cuda.syncwarp()  # expect: WarpMaskError
    out[t] = s[t // 2]


def launch(rng):
    x = rng.integers(0, 99, 32).astype(np.int32)
    return pairs, 1, 32, (x, np.zeros_like(x))
