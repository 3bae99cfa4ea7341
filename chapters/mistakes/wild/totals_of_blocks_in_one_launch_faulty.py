"""Each block leaves its total in global memory, and then adds up the totals of all blocks. A
barrier makes it wait for its own threads, and for no other block."""

# scope: grid
import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def total(x, partial, out):
    s = cuda.shared.array(THREADS, np.int64)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        partial[cuda.blockIdx.x] = s[0]  # expect: race
    cuda.syncthreads()
    if t == 0 and cuda.blockIdx.x == 0:
        for b in range(cuda.gridDim.x):
            out[0] += partial[b]  # expect: race


def launch(rng):
    x = rng.integers(0, 99, 4 * THREADS)
    return total, 4, THREADS, (x, np.zeros(4, np.int64), np.zeros(1, np.int64))
