"""An integer mean divides by the number of elements found, which is 0 for some threads."""

import numpy as np
from numba import cuda


@cuda.jit
def mean_of_multiples(x, out):
    t = cuda.threadIdx.x
    total, count = 0, 0
    for k in range(x.size):
        if x[k] % (t + 1) == 0:
            total += x[k]
            count += 1
    out[t] = total // count  # expect: ArithmeticFault


def launch(rng):
    x = rng.integers(1, 20, 30)
    return mean_of_multiples, 1, 32, (x, np.zeros(32, np.int64))
