"""The tree of a block's sum has no barrier between its steps."""

# scope: warp, block
import numpy as np
from numba import cuda

THREADS = 128


@cuda.jit
def block_sum(x, out):
    part = cuda.shared.array(THREADS, np.int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]  # expect: race
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


def launch(rng):
    return block_sum, 2, THREADS, (rng.integers(0, 99, 200), np.zeros(2, np.int64))
