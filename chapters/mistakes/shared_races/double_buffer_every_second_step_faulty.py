"""Two buffers that change places, with a barrier after every second step only."""

# scope: warp, block
import numpy as np
from numba import cuda

THREADS = 96


@cuda.jit
def diffuse(x, steps):
    u = cuda.shared.array((2, THREADS), np.float64)
    t = cuda.threadIdx.x
    u[0, t] = x[cuda.blockIdx.x, t]
    cuda.syncthreads()
    for k in range(steps):
        here = k % 2
        left, right = max(t - 1, 0), min(t + 1, THREADS - 1)
        near = u[here, left] + 2 * u[here, t] + u[here, right]  # expect: race
        u[1 - here, t] = near / 4  # expect: race
        if k % 2 == 1:
            cuda.syncthreads()
    x[cuda.blockIdx.x, t] = u[steps % 2, t]


def launch(rng):
    x = rng.integers(0, 99, (2, THREADS)).astype(np.float64)
    return diffuse, 2, THREADS, (x, 6)
