"""A phase of an odd-even sort compares elements that the phase before may not have swapped yet."""

# scope: warp, block
import numpy as np
from numba import cuda


@cuda.jit
def odd_even_sort(x):
    t = cuda.threadIdx.x
    for phase in range(x.size):
        i = 2 * t + phase % 2
        if i + 1 < x.size:
            a, b = x[i], x[i + 1]  # expect: race
            if a > b:
                x[i], x[i + 1] = b, a  # expect: race


def launch(rng):
    x = np.arange(100)[::-1].astype(np.float32) + rng.integers(0, 9)
    return odd_even_sort, 1, 64, (x,)
