"""They are stored behind two."""

import numpy as np
from numba import cuda


@cuda.jit
def fill(memory, colour):
    pixels = memory[2:].view(np.uint32)
    col, row = cuda.grid(2)
    k = row * 16 + col
    if k % 3 != 0:
        pixels[k] = colour + k


def launch(rng):
    memory = np.zeros(2 + 2 * 128, np.uint16)
    return fill, (2, 2), (8, 4), (memory, rng.integers(0, 99))


def expected(memory, colour):
    k = np.arange(128)
    pixels = np.where(k % 3 != 0, colour + k, 0).astype(np.uint32)
    return np.r_[memory[:2], pixels.view(np.uint16)]
