"""Pixels of four bytes are stored behind one 16-bit word."""

import numpy as np
from numba import cuda


@cuda.jit
def fill(memory, colour):
    pixels = memory[1:-1].view(np.uint32)
    col, row = cuda.grid(2)
    k = row * 16 + col
    if k % 3 != 0:
        pixels[k] = colour + k  # expect: MisalignedError


def launch(rng):
    memory = np.zeros(2 + 2 * 128, np.uint16)
    return fill, (2, 2), (8, 4), (memory, rng.integers(0, 99))
