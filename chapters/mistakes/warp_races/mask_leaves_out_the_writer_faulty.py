"""The lanes that read meet at a syncwarp whose mask leaves out the lanes that write."""

# scope: warp
import numpy as np
from numba import cuda


@cuda.jit
def upper_half(x, out):
    s = cuda.shared.array(32, np.float32)
    lane = cuda.threadIdx.x
    s[lane] = x[lane]  # expect: race
    if lane < 16:
        cuda.syncwarp(0x0000FFFF)
        out[lane] = s[lane + 16]  # expect: race


def launch(rng):
    return upper_half, 1, 32, (rng.standard_normal(32).astype(np.float32), np.zeros(16, np.float32))
