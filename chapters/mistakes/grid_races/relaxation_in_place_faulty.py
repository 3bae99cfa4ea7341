"""One sweep of a relaxation in place: neighbours in the same warp, block and grid read what is
overwritten."""

# scope: warp, block, grid
import numpy as np
from numba import cuda


@cuda.jit
def sweep(u, v):
    col, row = cuda.grid(2)
    if 0 < row < u.shape[0] - 1 and 0 < col < u.shape[1] - 1:
        near = u[row - 1, col] + u[row + 1, col] + u[row, col - 1] + u[row, col + 1]  # expect: race
        u[row, col] = near / 4  # expect: race


def launch(rng):
    u = rng.integers(0, 99, (20, 18)).astype(np.float64)
    return sweep, (3, 3), (8, 8), (u, u.copy())
