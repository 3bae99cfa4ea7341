"""A device function for every load, flat tiles, values chosen instead of overwritten, loops that end at K, and loads by way of registers."""

import numba
import numpy as np

from warpwise import cuda

TILE = 16
ZERO = np.float32(0)


@cuda.jit(device=True)
def element(matrix, row, col):
    return matrix[row, col] if row < matrix.shape[0] and col < matrix.shape[1] else ZERO


@cuda.jit
def matmul_coalesced(a, b, c):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row >= c.shape[0] or col >= c.shape[1]:
        return
    total, k = ZERO, 0
    while k < a.shape[1]:
        total += a[row, k] * b[k, col]
        k += 1
    c[row, col] = total


@cuda.jit
def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array(256, numba.float32)
    tile_b = cuda.shared.array(256, numba.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = ZERO
    for start in range(0, a.shape[1], TILE):
        cuda.syncthreads()
        tile_a[TILE * y + x] = element(a, row, start + x)
        tile_b[TILE * y + x] = element(b, start + y, col)
        cuda.syncthreads()
        for k in range(min(TILE, a.shape[1] - start)):
            total += tile_a[TILE * y + k] * tile_b[TILE * k + x]
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@cuda.jit
def matmul_rectangular(a, b, c):
    tile_a = cuda.shared.array((8, 16), np.float32)
    tile_b = cuda.shared.array((16, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = ZERO
    for start in range(0, a.shape[1], 16):
        cuda.syncthreads()
        if x < 16:  # half of each warp
            tile_a[y, x] = element(a, row, start + x)
        tile_b[y, x] = element(b, start + y, col)
        tile_b[y + 8, x] = element(b, start + y + 8, col)
        cuda.syncthreads()
        for k in range(16):
            total += tile_a[y, k] * tile_b[k, x]
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@cuda.jit
def matmul_column(a, b, c):
    tile_a = cuda.shared.array((32, 8), np.float32)
    tile_b = cuda.shared.array((8, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x + x
    first = second = third = fourth = ZERO
    for start in range(0, a.shape[1], 8):
        cuda.syncthreads()
        tile_a[4 * y + x // 8, x % 8] = element(a, top + 4 * y + x // 8, start + x % 8)
        tile_b[y, x] = element(b, start + y, col)
        cuda.syncthreads()
        for k in range(min(8, a.shape[1] - start)):
            one = tile_b[k, x]
            first += tile_a[y, k] * one
            second += tile_a[y + 8, k] * one
            third += tile_a[y + 16, k] * one
            fourth += tile_a[y + 24, k] * one
    for i, total in enumerate((first, second, third, fourth)):
        if top + y + 8 * i < c.shape[0] and col < c.shape[1]:
            c[top + y + 8 * i, col] = total


@cuda.jit
def matmul_patch(a, b, c):
    tile_a = cuda.shared.array((32, 8), np.float32)
    tile_b = cuda.shared.array((8, 32), np.float32)
    of_a, of_b = cuda.local.array(4, np.float32), cuda.local.array(4, np.float32)
    sums = cuda.local.array(16, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    t = 8 * y + x
    for n in range(16):
        sums[n] = 0
    for start in range(0, a.shape[1], 8):
        for i in range(4):
            tile_a[y + 8 * i, x] = element(a, top + y + 8 * i, start + x)
            tile_b[t // 32 + 2 * i, t % 32] = element(b, start + t // 32 + 2 * i, left + t % 32)
        cuda.syncthreads()
        for k in range(8):
            for i in range(4):
                of_a[i] = tile_a[y + 8 * i, k]
                of_b[i] = tile_b[k, x + 8 * i]
            for n in range(16):
                sums[n] += of_a[n // 4] * of_b[n % 4]
        cuda.syncthreads()
    for n in range(16):
        row, col = top + y + 8 * (n // 4), left + x + 8 * (n % 4)
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = sums[n]


@cuda.jit
def matmul_double(a, b, c):
    tile_a = cuda.shared.array((2, 16, 16), np.float32)
    tile_b = cuda.shared.array((2, 16, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total, now = ZERO, 0
    tile_a[0, y, x] = element(a, row, x)
    tile_b[0, y, x] = element(b, y, col)
    cuda.syncthreads()
    for start in range(16, a.shape[1], 16):
        next_a, next_b = element(a, row, start + x), element(b, start + y, col)
        for k in range(16):
            total += tile_a[now, y, k] * tile_b[now, k, x]
        now = 1 - now
        tile_a[now, y, x], tile_b[now, y, x] = next_a, next_b
        cuda.syncthreads()
    for k in range(16):
        total += tile_a[now, y, k] * tile_b[now, k, x]
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
