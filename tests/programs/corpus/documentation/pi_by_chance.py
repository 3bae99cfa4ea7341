"""Points at random in a square, and how many of them are in the circle."""

import math

import numpy as np

from warpwise import cuda
from warpwise.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32


@cuda.jit
def quarter(states, tries, share):
    me = cuda.grid(1)
    hits = 0
    for _ in range(tries):
        across = xoroshiro128p_uniform_float32(states, me)
        up = xoroshiro128p_uniform_float32(states, me)
        hits += across**2 + up**2 <= 1.0
    share[me] = hits / tries


def check():
    states, share = create_xoroshiro128p_states(1536, seed=1), np.zeros(1536, np.float32)
    quarter[24, 64](states, 100, share)
    assert abs(4 * share.mean() - math.pi) < 0.05
