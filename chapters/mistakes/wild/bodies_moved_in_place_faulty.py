"""Each body is pulled by all others and moved at once. Threads that are late see some of the
others where they were, and some where they will be."""

# scope: warp, block, grid
import numpy as np
from numba import cuda

DT = 0.01


@cuda.jit
def step(x, v):
    i = cuda.grid(1)
    if i < x.size:
        pull = 0.0
        for j in range(x.size):
            d = x[j] - x[i]  # expect: race
            pull += d / (abs(d) ** 3 + 0.1)
        v[i] += pull * DT
        x[i] += v[i] * DT  # expect: race


def launch(rng):
    x = rng.random(70)
    return step, 2, 64, (x, np.zeros(70))
