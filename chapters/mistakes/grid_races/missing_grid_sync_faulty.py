"""The second phase reads what other blocks write in the first, and a kernel has no barrier for all
blocks."""

# scope: grid
import numpy as np
from numba import cuda


@cuda.jit
def reverse(x, scratch, out):
    i = cuda.grid(1)
    scratch[i] = x[i] + 1  # expect: race
    out[i] = scratch[x.size - 1 - i]  # expect: race


def launch(rng):
    x = rng.integers(0, 99, 128)
    return reverse, 4, 32, (x, np.zeros_like(x), np.zeros_like(x))
