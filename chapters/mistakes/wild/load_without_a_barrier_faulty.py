"""Every thread stores an element, and adds its neighbour's at once. The barrier at the end of a
step comes too late for the first."""

# scope: warp
import numpy as np
from numba import cuda

THREADS = 32


@cuda.jit
def block_sums(x, out):
    s = cuda.shared.array(THREADS, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0  # expect: race
    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            s[t] += s[t + step]  # expect: race
        step *= 2
        cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def launch(rng):
    return block_sums, 2, THREADS, (rng.integers(0, 99, 50), np.zeros(2, np.int64))
