"""Eight-byte counts follow a header of 12 bytes."""

import numpy as np
from numba import cuda

HEADER = 12


@cuda.jit
def add_up(message, total):
    t, counts = cuda.threadIdx.x, message[HEADER:].view(np.int64)
    for k in range(t, counts.size, cuda.blockDim.x):
        cuda.atomic.add(total, 0, counts[k])  # expect: MisalignedError


def launch(rng):
    message = np.zeros(HEADER + 8 * 50, np.uint8)
    message[HEADER:].view(np.int64)[:] = rng.integers(0, 99, 50)
    return add_up, 1, 32, (message, np.zeros(1, np.int64))
