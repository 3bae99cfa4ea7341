"""The loop waits for equality, and threads with an odd number step over the end."""

import numpy as np
from numba import cuda


@cuda.jit
def squares_to_the_end(end, out):
    k, i, total = cuda.threadIdx.x, cuda.grid(1), 0
    while k != end:  # expect: StepLimitError
        total += k * k
        k += 2
    out[i] = total


def launch(rng):
    return squares_to_the_end, 2, 32, (40, np.zeros(64, np.int64)), {"max_steps": 5000}
