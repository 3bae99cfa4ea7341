"""The next value is stored while a slower lane still reads the last one: the loop has one syncwarp
of two."""

# scope: warp
import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def polynomial(x, out):
    s = cuda.shared.array(THREADS, np.int64)
    t, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    value = x[t]
    for _ in range(4):
        s[t] = value  # expect: race
        cuda.syncwarp()
        value = 3 * value + s[t - lane + (lane + 1) % 32]  # expect: race
    out[t] = value


def launch(rng):
    return polynomial, 1, THREADS, (rng.integers(0, 99, THREADS), np.zeros(THREADS, np.int64))
