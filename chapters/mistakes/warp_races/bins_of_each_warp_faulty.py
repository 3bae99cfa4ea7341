"""Each warp has bins of its own, but its 32 lanes still count into them with +=."""

# scope: warp
import numpy as np
from numba import cuda

BINS = 4


@cuda.jit
def count(x, out):
    bins = cuda.shared.array((2, BINS), np.int32)
    t, warp = cuda.threadIdx.x, cuda.threadIdx.x // 32
    if t % 32 < BINS:
        bins[warp, t % 32] = 0
    cuda.syncwarp()
    bins[warp, x[t]] += 1  # expect: race
    cuda.syncwarp()
    if t % 32 < BINS:
        out[warp, t % 32] = bins[warp, t % 32]


def launch(rng):
    return count, 1, 64, (rng.integers(0, BINS, 64, np.int32), np.zeros((2, BINS), np.int32))
