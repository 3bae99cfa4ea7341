"""A game of life counts eight neighbours, at the edges too. To the left of column 0 Numba wraps
to the last one, as Python does; to the right of the last there is nothing to wrap to."""

import numpy as np
from numba import cuda


@cuda.jit
def neighbours(cells, out):
    i, j = cuda.grid(2)
    total = 0
    for a in range(-1, 2):
        for b in range(-1, 2):
            if a != 0 or b != 0:
                total += cells[i + a, j + b]  # expect: OutOfBoundsError
    out[i, j] = total


def launch(rng):
    cells = rng.integers(0, 2, (16, 16))
    return neighbours, (2, 2), (8, 8), (cells, np.zeros_like(cells))
