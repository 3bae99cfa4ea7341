"""The tile has one more element on either side."""

import numpy as np
from numba import cuda

THREADS = 32
NEAR = THREADS + 2


@cuda.jit
def blur(x, out):
    near = cuda.shared.array(NEAR, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    near[t + 1] = x[i + 1]
    if t == 0:
        near[0] = x[i]
    if t == THREADS - 1:
        near[t + 2] = x[i + 2]
    cuda.syncthreads()
    out[i] = near[t] + near[t + 1] + near[t + 2]


def launch(rng):
    x = rng.integers(0, 9, 4 * THREADS + 2).astype(np.float32)
    return blur, 4, THREADS, (x, np.zeros(x.size - 2, np.float32))


def expected(x, out):
    return x[:-2] + x[1:-1] + x[2:]
