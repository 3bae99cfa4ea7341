"""Each thread draws random numbers from a state of its own, or so it seems: threads of other
blocks have the same index in their block, and the same state."""

# scope: grid
import numpy as np
from numba import cuda


@cuda.jit(device=True)
def draw(states, i):
    state = (1664525 * states[i] + 1013904223) % 2**32  # expect: race
    states[i] = state  # expect: race
    return state / 2**32


@cuda.jit
def hits(states, out):
    i = cuda.grid(1)
    for _ in range(8):
        x = draw(states, cuda.threadIdx.x)
        y = draw(states, cuda.threadIdx.x)
        if x * x + y * y < 1:
            out[i] += 1


def launch(rng):
    return hits, 2, 32, (rng.integers(0, 2**32, 64), np.zeros(64, np.int64))
