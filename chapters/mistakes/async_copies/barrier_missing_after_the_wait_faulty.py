"""Each thread waits for its own copies, and reads what another one copies."""

import numpy as np
from numba import cuda

from warpwise.kernels.tensor_core import cp_async16, cp_async_commit, cp_async_wait

# scope: warp, block

THREADS, NUMBERS = 64, 256


@cuda.jit
def turned_round(x, out):
    tile = cuda.shared.array(NUMBERS, np.float32, alignment=16)
    t = cuda.threadIdx.x
    cp_async16(tile, 4 * t, x, 4 * t)  # expect: race
    cp_async_commit()
    cp_async_wait(0)
    for i in range(t, NUMBERS, THREADS):
        out[i] = tile[NUMBERS - 1 - i]  # expect: race


def launch(rng):
    x = rng.random(NUMBERS, dtype=np.float32)
    return turned_round, 1, THREADS, (x, np.zeros(NUMBERS, np.float32))
