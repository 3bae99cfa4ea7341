"""The halo of a stencil is loaded after the barrier, so its readers need not see it."""

# scope: block
import numpy as np
from numba import cuda

THREADS, RADIUS = 64, 3
NEAR = THREADS + RADIUS


@cuda.jit
def look_ahead(x, out):
    near = cuda.shared.array(NEAR, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    near[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    if t < RADIUS:
        ahead = i + THREADS
        near[THREADS + t] = x[ahead] if ahead < x.size else 0  # expect: race
    if i < x.size:
        total = 0
        for k in range(RADIUS + 1):
            total += near[t + k]  # expect: race
        out[i] = total


def launch(rng):
    x = rng.integers(0, 99, 150).astype(np.int32)
    return look_ahead, 3, THREADS, (x, np.zeros_like(x))
