"""Matrix product, plain and in tiles, for matrices of any shape that are float64 on the device."""

import math

import numba
import numpy as np

from warpwise import cuda

TILE = 16


@cuda.jit
def plain(left, right, result):
    column, row = cuda.grid(2)
    if row < result.shape[0] and column < result.shape[1]:
        total = 0.0
        for k in range(left.shape[1]):
            total += left[row, k] * right[k, column]
        result[row, column] = total


@cuda.jit
def tiled(left, right, result):
    """Threads outside of the result load too: others need what they load."""
    ours = cuda.shared.array(shape=(TILE, TILE), dtype=numba.float32)
    theirs = cuda.shared.array(shape=(TILE, TILE), dtype=numba.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = numba.float32(0.0)
    for tile in range(math.ceil(left.shape[1] / TILE)):
        k = tile * TILE
        ours[y, x] = left[row, k + x] if row < left.shape[0] and k + x < left.shape[1] else 0
        theirs[y, x] = (
            right[k + y, column] if k + y < right.shape[0] and column < right.shape[1] else 0
        )
        cuda.syncthreads()
        for j in range(TILE):
            total += ours[y, j] * theirs[j, x]
        cuda.syncthreads()
    if row < result.shape[0] and column < result.shape[1]:
        result[row, column] = total


def check():
    left = np.ones([5, 23])
    right = np.arange(23.0 * 19).reshape(23, 19)
    for kernel in (plain, tiled):
        result = cuda.device_array((5, 19))
        blocks = math.ceil(19 / TILE), math.ceil(5 / TILE)
        kernel[blocks, (TILE, TILE)](cuda.to_device(left), cuda.to_device(right), result)
        assert np.allclose(result.copy_to_host(), left @ right)
