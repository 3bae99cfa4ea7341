"""Tiles with padding, some of them transposed; sums in arrays of their own; products in another order; names and loops of another taste."""

import numpy as np

from warpwise import cuda

SIDE = 32


@cuda.jit
def matmul_coalesced(a, b, c):
    col, row = cuda.grid(2)
    inside = row < c.shape[0] and col < c.shape[1]
    if inside:
        total = np.float32(0)
        for back in range(a.shape[1]):
            k = a.shape[1] - 1 - back
            from_a, from_b = a[row, k], b[k, col]
            total = total + from_a * from_b
        c[row, col] = total


@cuda.jit
def matmul_tiled(a, b, c):
    turned = cuda.shared.array((16, 18), np.float32)  # a's tile, columns as rows
    tile = cuda.shared.array((16, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 16 * cuda.blockIdx.y + y, 16 * cuda.blockIdx.x + x
    total = np.float32(0)
    steps = -(-a.shape[1] // 16)
    for step in range(steps):
        k = 16 * step + x
        if row < a.shape[0] and k < a.shape[1]:
            turned[x, y] = a[row, k]
        else:
            turned[x, y] = 0
        k = 16 * step + y
        if k < b.shape[0] and col < b.shape[1]:
            tile[y, x] = b[k, col]
        else:
            tile[y, x] = 0
        cuda.syncthreads()
        for k in range(16):
            total += turned[k, y] * tile[k, x]
        if step < steps - 1:
            cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@cuda.jit
def matmul_rectangular(a, b, c):
    tile_a = cuda.shared.array(8 * 16, np.float32)
    tile_b = cuda.shared.array(16 * 32, np.float32)
    t = 32 * cuda.threadIdx.y + cuda.threadIdx.x
    top, left = 8 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    total = np.float32(0)
    for start in range(0, a.shape[1], 16):
        for e in range(t, 8 * 16, 256):
            row, k = top + e // 16, start + e % 16
            tile_a[e] = a[row, k] if row < a.shape[0] and k < a.shape[1] else np.float32(0)
        for e in range(t, 16 * 32, 256):
            k, col = start + e // 32, left + e % 32
            tile_b[e] = b[k, col] if k < b.shape[0] and col < b.shape[1] else np.float32(0)
        cuda.syncthreads()
        for k in range(16):
            total += tile_a[16 * (t // 32) + k] * tile_b[32 * k + t % 32]
        cuda.syncthreads()
    row, col = top + t // 32, left + t % 32
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@cuda.jit
def matmul_column(a, b, c):
    tile_a = cuda.shared.array((SIDE, 8), np.float32)
    tile_b = cuda.shared.array((8, SIDE), np.float32)
    sums = cuda.local.array(4, np.float32)
    of_a = cuda.local.array(4, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = SIDE * y + x
    col = SIDE * cuda.blockIdx.x + x
    for i in range(4):
        sums[i] = np.float32(0)
    for start in range(0, a.shape[1], 8):
        row, k = SIDE * cuda.blockIdx.y + t // 8, start + t % 8
        tile_a[t // 8, t % 8] = 0
        tile_b[y, x] = 0
        if row < a.shape[0] and k < a.shape[1]:
            tile_a[t // 8, t % 8] = a[row, k]
        if start + y < b.shape[0] and col < b.shape[1]:
            tile_b[y, x] = b[start + y, col]
        cuda.syncthreads()
        for k in range(8):
            for i in range(4):
                of_a[i] = tile_a[y + 8 * i, k]
            of_b = tile_b[k, x]
            for i in range(4):
                sums[i] += of_a[i] * of_b
        cuda.syncthreads()
    for row in range(SIDE * cuda.blockIdx.y + y, min(SIDE * (cuda.blockIdx.y + 1), c.shape[0]), 8):
        if col < c.shape[1]:
            c[row, col] = sums[(row - SIDE * cuda.blockIdx.y) // 8]


@cuda.jit
def matmul_patch(a, b, c):
    tile_a = cuda.shared.array((8, 36), np.float32)  # transposed: four words of padding put a column's elements into other banks
    tile_b = cuda.shared.array((8, 40), np.float32)
    sums = cuda.local.array((4, 4), np.float32)
    of_b = cuda.local.array(4, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 32 * cuda.blockIdx.y + y, 32 * cuda.blockIdx.x + x
    for n in range(16):
        sums[n // 4, n % 4] = 0
    for start in range(0, a.shape[1], 8):
        for n in range(4):
            tile_a[x, y + 8 * n] = 0
            if row + 8 * n < a.shape[0] and start + x < a.shape[1]:
                tile_a[x, y + 8 * n] = a[row + 8 * n, start + x]
            tile_b[y, x + 8 * n] = 0
            if start + y < b.shape[0] and col + 8 * n < b.shape[1]:
                tile_b[y, x + 8 * n] = b[start + y, col + 8 * n]
        cuda.syncthreads()
        for k in range(8):
            for j in range(4):
                of_b[j] = tile_b[k, x + 8 * j]
            for i in range(4):
                of_a = tile_a[k, y + 8 * i]
                for j in range(4):
                    sums[i, j] += of_a * of_b[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            if row + 8 * i < c.shape[0] and col + 8 * j < c.shape[1]:
                c[row + 8 * i, col + 8 * j] = sums[i, j]


@cuda.jit
def matmul_double(a, b, c):
    first_a = cuda.shared.array((16, 16), np.float32)
    first_b = cuda.shared.array((16, 16), np.float32)
    both = cuda.shared.array((2, 16, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = np.float32(0)
    start, even = 0, True
    while start < a.shape[1]:
        from_a = a[row, start + x] if row < a.shape[0] and start + x < a.shape[1] else np.float32(0)
        from_b = b[start + y, col] if start + y < b.shape[0] and col < b.shape[1] else np.float32(0)
        if even:
            first_a[y, x] = from_a
            first_b[y, x] = from_b
        else:
            both[0, y, x] = from_a
            both[1, y, x] = from_b
        cuda.syncthreads()
        if even:
            for k in range(16):
                total += first_a[y, k] * first_b[k, x]
        else:
            for k in range(16):
                total += both[0, y, k] * both[1, k, x]
        start += 16
        even = not even
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
