"""The lanes of a warp hand values on through global memory without a syncwarp."""

# scope: warp
import numpy as np
from numba import cuda


@cuda.jit
def mirror(x, scratch, out):
    i, lane = cuda.grid(1), cuda.laneid
    scratch[i] = 2 * x[i]  # expect: race
    out[i] = scratch[i + 31 - 2 * lane]  # expect: race


def launch(rng):
    x = rng.standard_normal(128).astype(np.float32)
    return mirror, 2, 64, (x, np.zeros_like(x), np.zeros_like(x))
