"""An atomic addition is read, addition and write in one."""

import numpy as np
from numba import cuda


@cuda.jit
def count_large(x, count):
    t = cuda.threadIdx.x
    votes = 0
    if t % 32 == 0:
        for k in range(32):
            votes += x[t + k] > 50
        cuda.atomic.add(count, 0, votes)


def launch(rng):
    return count_large, 1, 256, (rng.integers(0, 99, 256), np.zeros(1, np.int64))


def expected(x, count):
    return np.array([(x > 50).sum()])
