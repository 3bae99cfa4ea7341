"""Threads multiply with a tile before the others of their row have loaded it."""

# scope: warp
import numpy as np
from numba import cuda

ROWS, TILE = 4, 16


@cuda.jit
def matmul(a, b, c):
    tile = cuda.shared.array((ROWS, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        tile[ty, tx] = a[row, start + tx]  # expect: race
        for k in range(TILE):
            total += tile[ty, k] * b[start + k, col]  # expect: race
        cuda.syncthreads()
    c[row, col] = total


def launch(rng):
    a, b = (
        rng.standard_normal((8, 32)).astype(np.float32),
        rng.standard_normal((32, 48)).astype(np.float32),
    )
    return matmul, (3, 2), (TILE, ROWS), (a, b, np.zeros((8, 48), np.float32))
