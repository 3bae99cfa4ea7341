"""Every thread that beats the best value stores its own; a smaller one may be stored last."""

# scope: warp, block
import numpy as np
from numba import cuda


@cuda.jit
def largest(x, best):
    i = cuda.grid(1)
    if i < x.size and x[i] > best[0]:  # expect: race
        best[0] = x[i]  # expect: race


def launch(rng):
    return largest, 1, 128, (rng.integers(1, 10**6, 120), np.zeros(1, np.int64))
