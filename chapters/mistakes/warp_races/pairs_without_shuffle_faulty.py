"""Two lanes swap values through shared memory with nothing between store and load."""

# scope: warp
import numpy as np
from numba import cuda


@cuda.jit
def pair_sums(x, out):
    s = cuda.shared.array(64, np.int32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    s[t] = x[i]  # expect: race
    out[i] = x[i] + s[t ^ 1]  # expect: race


def launch(rng):
    x = rng.integers(0, 999, 192).astype(np.int32)
    return pair_sums, 3, 64, (x, np.zeros_like(x))
