"""A thread's index in the whole grid is its own, and so is the state."""

import numpy as np
from numba import cuda


@cuda.jit(device=True)
def draw(states, i):
    state = (1664525 * states[i] + 1013904223) % 2**32
    states[i] = state
    return state / 2**32


@cuda.jit
def hits(states, out):
    i = cuda.grid(1)
    for _ in range(8):
        x = draw(states, i)
        y = draw(states, i)
        if x * x + y * y < 1:
            out[i] += 1


def launch(rng):
    return hits, 2, 32, (rng.integers(0, 2**32, 64), np.zeros(64, np.int64))


def expected(states, out):
    found = np.zeros(64, np.int64)
    for _ in range(8):
        x = (1664525 * states + 1013904223) % 2**32
        states = (1664525 * x + 1013904223) % 2**32
        found += (x / 2**32) ** 2 + (states / 2**32) ** 2 < 1
    return found
