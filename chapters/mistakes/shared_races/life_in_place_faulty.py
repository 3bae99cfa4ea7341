"""A generation of Life is written into the tile that its neighbours still read."""

# scope: warp, block
import numpy as np
from numba import cuda

WIDTH, HEIGHT = 16, 8


@cuda.jit
def life(cells):
    tile = cuda.shared.array((HEIGHT, WIDTH), np.int32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = cells[ty, tx]
    cuda.syncthreads()
    for _ in range(3):
        near = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                near += tile[(ty + dy) % HEIGHT, (tx + dx) % WIDTH]  # expect: race
        alive = near == 3 or (near == 4 and tile[ty, tx] == 1)
        tile[ty, tx] = 1 if alive else 0  # expect: race
        cuda.syncthreads()
    cells[ty, tx] = tile[ty, tx]


def launch(rng):
    return life, 1, (WIDTH, HEIGHT), (rng.integers(0, 2, (HEIGHT, WIDTH)).astype(np.int32),)
