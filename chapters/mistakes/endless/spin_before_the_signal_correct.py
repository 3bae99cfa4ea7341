"""The signal is given before the wait."""

import numpy as np
from numba import cuda


@cuda.jit
def wait(flag, out):
    lane = cuda.laneid
    if lane == 5:
        cuda.atomic.exch(flag, 0, 1)
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass
    out[lane] = lane


def launch(rng):
    return wait, 1, 32, (np.zeros(1, np.int32), np.zeros(32, np.int64)), {"max_steps": 5000}


def expected(flag, out):
    return np.arange(32)
