"""The loop goes on only from elements that are positive; at another one it stays for ever."""

import numpy as np
from numba import cuda


@cuda.jit
def positive_sum(x, out):
    i = cuda.grid(1)
    total = 0
    while i < x.size:  # expect: StepLimitError
        if x[i] > 0:
            total += x[i]
            i += cuda.gridsize(1)
    cuda.atomic.add(out, 0, total)


def launch(rng):
    x = rng.integers(-9, 9, 300)
    x[77] = -5
    return positive_sum, 2, 32, (x, np.zeros(1, np.int64)), {"max_steps": 5000}
