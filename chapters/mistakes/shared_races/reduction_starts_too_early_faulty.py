"""The tree of a sum starts before all threads have stored their value."""

# scope: block
import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def block_max(x, out):
    part = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]  # expect: race
    step = THREADS // 2
    while step >= 32:
        if t < step:
            part[t] = max(part[t], part[t + step])  # expect: race
        step //= 2
    cuda.syncthreads()
    if t == 0:
        best = part[0]
        for k in range(1, 32):
            best = max(best, part[k])
        out[cuda.blockIdx.x] = best


def launch(rng):
    return (
        block_max,
        4,
        THREADS,
        (rng.standard_normal(4 * THREADS).astype(np.float32), np.zeros(4, np.float32)),
    )
