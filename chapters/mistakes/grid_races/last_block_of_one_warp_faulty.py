"""The last of the blocks, each a warp, adds up the sums of all, and no fence comes before the
ticket."""

# scope: grid
import numpy as np
from numba import cuda


@cuda.jit
def total(x, sums, ticket, out):
    last = cuda.shared.array(1, np.int32)
    lane, b, blocks = cuda.threadIdx.x, cuda.blockIdx.x, cuda.gridDim.x
    sums[b, lane] = x[b, lane] * x[b, lane]  # expect: race
    cuda.syncwarp()
    if lane == 0:
        last[0] = cuda.atomic.inc(ticket, 0, blocks - 1) == blocks - 1
        cuda.threadfence()
    cuda.syncwarp()
    if last[0] == 1:
        for k in range(blocks):
            out[lane] += sums[k, lane]  # expect: race


def launch(rng):
    x = rng.integers(1, 99, (5, 32))
    return (
        total,
        5,
        32,
        (x, np.zeros((5, 32), np.int64), np.zeros(1, np.uint32), np.zeros(32, np.int64)),
    )
