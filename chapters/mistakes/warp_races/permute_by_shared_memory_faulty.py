"""The lanes of a warp pass values through shared memory and read them at once."""

# scope: warp
import numpy as np
from numba import cuda

WARPS = 4


@cuda.jit
def deal(x, out):
    rows = cuda.shared.array((WARPS, 32), np.int32)
    lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
    rows[warp, lane] = x[cuda.blockIdx.x, warp, lane]  # expect: race
    source = lane % 8 * 4 + lane // 8
    out[cuda.blockIdx.x, warp, lane] = rows[warp, source]  # expect: race


def launch(rng):
    x = rng.integers(0, 999, (2, WARPS, 32)).astype(np.int32)
    return deal, 2, (32, WARPS), (x, np.zeros_like(x))
