"""Each thread reads what it copies itself, as soon as the copy is on its way."""

import numpy as np
from numba import cuda

from warpwise.kernels.tensor_core import cp_async16, cp_async_commit

THREADS, NUMBERS = 64, 256


@cuda.jit
def doubled(x, out):
    tile = cuda.shared.array(NUMBERS, np.float32, alignment=16)
    first = 4 * cuda.threadIdx.x
    cp_async16(tile, first, x, first)
    cp_async_commit()
    for k in range(4):
        out[first + k] = 2 * tile[first + k]  # expect: AsyncCopyError


def launch(rng):
    x = rng.random(NUMBERS, dtype=np.float32)
    return doubled, 1, THREADS, (x, np.zeros(NUMBERS, np.float32))
