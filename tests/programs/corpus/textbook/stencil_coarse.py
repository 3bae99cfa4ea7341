"""A seven-point stencil: a plane in shared memory moves along the third direction."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)

WIDTH = 8
INSIDE = WIDTH - 2


@cuda.jit
def smooth(old, new):
    plane = cuda.shared.array((WIDTH, WIDTH), float32)
    n = old.shape[0]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x = cuda.blockIdx.x * INSIDE + tx - 1
    y = cuda.blockIdx.y * INSIDE + ty - 1
    first = cuda.blockIdx.z * INSIDE
    there = 0 <= x < n and 0 <= y < n
    below = old[first - 1, y, x] if there and first > 0 else float32(0)
    here = old[first, y, x] if there and first < n else float32(0)
    for z in range(first, min(first + INSIDE, n)):
        plane[ty, tx] = here
        above = old[z + 1, y, x] if there and z + 1 < n else float32(0)
        cuda.syncthreads()
        if there and 0 < tx < WIDTH - 1 and 0 < ty < WIDTH - 1:
            new[z, y, x] = (
                2 * here
                + plane[ty, tx - 1]
                + plane[ty, tx + 1]
                + plane[ty - 1, tx]
                + plane[ty + 1, tx]
                + below
                + above
            )
        cuda.syncthreads()
        below, here = here, above


def check():
    n = 13
    blocks = -(-n // INSIDE)
    old = rng.random((n, n, n), dtype=np.float32)
    new = np.zeros_like(old)
    smooth[(blocks, blocks, blocks), (WIDTH, WIDTH)](old, new)
    padded = np.pad(old, 1)
    moved = [np.roll(padded, by, axis) for by in (1, -1) for axis in range(3)]
    wanted = 2 * old + sum(moved)[1:-1, 1:-1, 1:-1]
    assert np.allclose(new, wanted, rtol=1e-5)
