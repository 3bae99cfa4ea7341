"""Two warps swap their values through global memory without a barrier."""

# scope: block
import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def swap_halves(scratch, x):
    t, start = cuda.threadIdx.x, cuda.blockIdx.x * THREADS
    scratch[start + t] = x[start + t]  # expect: race
    x[start + t] = scratch[start + (t + 32) % THREADS]  # expect: race


def launch(rng):
    x = rng.standard_normal(2 * THREADS).astype(np.float32)
    return swap_halves, 2, THREADS, (np.zeros_like(x), x)
