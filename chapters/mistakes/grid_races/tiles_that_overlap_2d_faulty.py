"""The tiles of a picture are 8 high and start every 7 rows: two blocks brighten the shared row."""

# scope: grid
import numpy as np
from numba import cuda

TILE = 8


@cuda.jit
def brighten(picture):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    row = cuda.blockIdx.y * (TILE - 1) + cuda.threadIdx.y
    if row < picture.shape[0] and col < picture.shape[1]:
        picture[row, col] = min(picture[row, col] + 20, 255)  # expect: race


def launch(rng):
    return brighten, (3, 3), (TILE, TILE), (rng.integers(0, 256, (21, 20)).astype(np.int16),)
