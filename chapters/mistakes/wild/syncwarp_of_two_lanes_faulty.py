"""The totals of four warps are added in two steps. The first is done by two lanes, and only
those two reach the syncwarp, which waits for all 32."""

import numpy as np
from numba import cuda


@cuda.jit
def total_of_block(x, out):
    totals = cuda.shared.array(4, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < 4:
        totals[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(totals, t // 32, x[i])
    cuda.syncthreads()
    if t < 2:
        totals[t] += totals[t + 2]
        cuda.syncwarp()  # expect: WarpMaskError
    if t == 0:
        out[cuda.blockIdx.x] = totals[0] + totals[1]


def launch(rng):
    return total_of_block, 2, 128, (rng.integers(0, 99, 256), np.zeros(2, np.int64))
