"""Two warps store their values in the same 32 slots."""

# scope: block
import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def lane_sums(x, out):
    part = cuda.shared.array(THREADS, np.int32)
    t = cuda.threadIdx.x
    part[t % 32] = x[cuda.grid(1)]  # expect: race
    cuda.syncthreads()
    if t < 32:
        out[cuda.blockIdx.x, t] = 2 * part[t]


def launch(rng):
    return (
        lane_sums,
        2,
        THREADS,
        (rng.integers(0, 99, 2 * THREADS).astype(np.int32), np.zeros((2, 32), np.int32)),
    )
