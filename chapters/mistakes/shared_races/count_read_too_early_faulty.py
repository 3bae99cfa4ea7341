"""A count that threads still add to with atomics is read with a plain load."""

# scope: warp, block
import numpy as np
from numba import cuda


@cuda.jit
def share_of_large(x, limit, out):
    count = cuda.shared.array(1, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    if x[i] > limit:
        cuda.atomic.add(count, 0, 1)  # expect: race
    out[i] = x[i] / (count[0] + 1)  # expect: race


def launch(rng):
    x = rng.integers(0, 99, 192).astype(np.float64)
    return share_of_large, 3, 64, (x, 40.0, np.zeros_like(x))
