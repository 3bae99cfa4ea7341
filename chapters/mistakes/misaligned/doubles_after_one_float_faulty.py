"""Float32 memory is taken as float64 from an odd element on: no address is a multiple of 8."""

import numpy as np
from numba import cuda


@cuda.jit
def scale(memory, out):
    x = memory[1:-1].view(np.float64)
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]  # expect: MisalignedError


def launch(rng):
    memory = rng.standard_normal(68).astype(np.float32)
    return scale, 2, 32, (memory, np.zeros(33))
