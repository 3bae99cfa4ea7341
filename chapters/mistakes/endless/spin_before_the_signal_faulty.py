"""All lanes wait for a signal that one of them would give after the wait."""

import numpy as np
from numba import cuda


@cuda.jit
def wait(flag, out):
    lane = cuda.laneid
    while cuda.atomic.add(flag, 0, 0) == 0:  # expect: EndlessError
        pass
    if lane == 5:
        cuda.atomic.exch(flag, 0, 1)
    out[lane] = lane


def launch(rng):
    return wait, 1, 32, (np.zeros(1, np.int32), np.zeros(32, np.int64)), {"max_steps": 5000}
