"""The division is made where there is something to divide by."""

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
    out[t] = total // count if count > 0 else 0


def launch(rng):
    x = rng.integers(1, 20, 30)
    return mean_of_multiples, 1, 32, (x, np.zeros(32, np.int64))


def expected(x, out):
    groups = [x[x % d == 0] for d in range(1, 33)]
    return np.array([g.sum() // g.size if g.size else 0 for g in groups])
