"""One sweep of a relaxation in place: neighbours in the same warp, block and grid read what is
overwritten."""

# scope: warp, block, grid
import numpy as np
from numba import cuda


@cuda.jit
def sweep(u, v):
    x, y = cuda.grid(2)
    if 0 < y < u.shape[0] - 1 and 0 < x < u.shape[1] - 1:
        near = u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1]  # expect: race
        u[y, x] = near / 4  # expect: race


def launch(rng):
    u = rng.integers(0, 99, (20, 18)).astype(np.float64)
    return sweep, (3, 3), (8, 8), (u, u.copy())
