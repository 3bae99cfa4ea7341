"""The last block reads all sums with all its threads; the block that wrote a sum did not fence
it."""

# scope: grid
import numpy as np
from numba import cuda


@cuda.jit
def largest_sum(x, sums, ticket, out):
    last = cuda.shared.array(1, np.int32)
    t, b, blocks = cuda.threadIdx.x, cuda.blockIdx.x, cuda.gridDim.x
    if t == 0:
        sums[b] = x[b, 0] + x[b, 1] + x[b, 2]  # expect: race
        last[0] = cuda.atomic.inc(ticket, 0, blocks - 1) == blocks - 1
        cuda.threadfence()
    cuda.syncthreads()
    if last[0] == 1 and t < blocks:
        cuda.atomic.max(out, 0, sums[t])  # expect: race


def launch(rng):
    x = rng.integers(1, 999, (6, 3))
    return (
        largest_sum,
        6,
        32,
        (x, np.zeros(6, np.int64), np.zeros(1, np.uint32), np.zeros(1, np.int64)),
    )
