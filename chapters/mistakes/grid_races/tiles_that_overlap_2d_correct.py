"""Tiles start every 8 rows."""

import numpy as np
from numba import cuda

TILE = 8


@cuda.jit
def brighten(picture):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    row = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    if row < picture.shape[0] and col < picture.shape[1]:
        picture[row, col] = min(picture[row, col] + 20, 255)


def launch(rng):
    return brighten, (3, 3), (TILE, TILE), (rng.integers(0, 256, (21, 20)).astype(np.int16),)


def expected(picture):
    return np.minimum(picture + 20, 255)
