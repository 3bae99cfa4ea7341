"""A volume of random numbers: each thread strides in three directions, with its own state."""

import numpy as np

from warpwise import cuda
from warpwise.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32


@cuda.jit
def fill(volume, states):
    x, y, z = cuda.grid(3)
    wide, high, deep = cuda.gridsize(3)
    mine = x + wide * (y + high * z)
    for i in range(z, volume.shape[0], deep):
        for j in range(y, volume.shape[1], high):
            for k in range(x, volume.shape[2], wide):
                volume[i, j, k] = xoroshiro128p_uniform_float32(states, mine)


def check():
    volume = np.zeros((21, 19, 17), np.float32)
    fill[(2, 2, 2), (4, 4, 4)](volume, create_xoroshiro128p_states(512, seed=1))
    assert volume.min() > 0 and volume.max() < 1 and abs(volume.mean() - 0.5) < 0.02
