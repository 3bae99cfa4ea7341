"""One thread finds the block's pivot and all use it, with no barrier between."""

# scope: warp, block
import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def below_pivot(x, out):
    pivot = cuda.shared.array(1, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        a, b, c = x[i], x[i + THREADS // 2], x[i + THREADS - 1]
        pivot[0] = max(min(a, b), min(max(a, b), c))  # expect: race
    out[i] = x[i] < pivot[0]  # expect: race


def launch(rng):
    x = rng.standard_normal(2 * THREADS).astype(np.float32)
    return below_pivot, 2, THREADS, (x, np.zeros(x.size, np.bool_))
