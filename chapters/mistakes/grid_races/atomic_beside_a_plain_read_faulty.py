"""Blocks take work with an atomic, and look at the counter with a plain load."""

# scope: grid
import numpy as np
from numba import cuda


@cuda.jit
def take_turns(work, counter, out):
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(counter, 0, 1)  # expect: race
        item = counter[0] - 1  # expect: race
        if item < work.size:
            cuda.atomic.add(out, 0, work[item])


def launch(rng):
    return take_turns, 6, 32, (rng.integers(1, 99, 5), np.zeros(1, np.int64), np.zeros(1, np.int64))
