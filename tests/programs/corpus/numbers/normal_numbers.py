"""Random numbers with a normal distribution."""

import numpy as np

from warpwise import cuda
from warpwise.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float32


@cuda.jit
def k(st, o):
    i = cuda.grid(1)
    u = xoroshiro128p_normal_float32(st, i)
    o[i] = u


def check():
    st = create_xoroshiro128p_states(4096, seed=3)
    o = np.zeros(4096, np.float32)
    k[16, 256](st, o)
    assert abs(o.mean()) < 0.06 and abs(o.std() - 1) < 0.06
