"""A vote is taken for a barrier: all lanes reach it, but it orders no accesses to memory."""

# scope: warp
import numpy as np
from numba import cuda

FULL = 0xFFFFFFFF


@cuda.jit
def if_all_positive(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # expect: race
    positive = cuda.all_sync(FULL, x[t] > 0)
    out[t] = s[t ^ 1] if positive else -s[t]  # expect: race


def launch(rng):
    x = rng.uniform(1, 2, 64).astype(np.float32)
    x[40] = -1
    return if_all_positive, 1, 64, (x, np.zeros(64, np.float32))
