"""A flat tile and padding in both matrices, device functions, and the places of all blocks in a list."""
# ruff: noqa: F821

import numpy as np

from warpwise import cuda
from warpwise.kernels.wide import load4

PITCH = 68


def asked(m, n, k, side, r, s):
    from_global = from_shared = 0
    for _ in range((m // side) * (n // side)):
        from_global += side * k + k * side
        from_shared += (side // r) * (side // s) * k * (r + s)
    return from_global, from_shared


def turns(addresses):
    pieces = np.asarray(addresses) // 16
    pairs, others = pieces.reshape(16, 2), pieces.reshape(8, 2, 2)
    alike = (pairs[:, 0] == pairs[:, 1]).all() or (others[:, 0] == others[:, 1]).all()
    total = 0
    for group in pieces.reshape(2 if alike else 4, -1):
        total += max(len({p for p in group.tolist() if p % 8 == bank}) for bank in range(8))
    return int(total)


@cuda.jit(device=True)
def clear(sums):
    for i in range(8):
        for j in range(8):
            sums[i, j] = 0


@cuda.jit
def patch(a, b, c):
    tile_a = cuda.shared.array((64, 8), np.float32)
    tile_b = cuda.shared.array((8, 64), np.float32)
    sums = cuda.local.array((8, 8), np.float32)
    of_a = cuda.local.array(8, np.float32)
    of_b = cuda.local.array(8, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 64 * cuda.blockIdx.y + y, 64 * cuda.blockIdx.x + x
    clear(sums)
    start = 0
    while start < a.shape[1]:
        for i in range(8):
            tile_a[y + 8 * i, x] = a[row + 8 * i, start + x]
            tile_b[i, 8 * y + x] = b[start + i, col - x + 8 * y + x]
        cuda.syncthreads()
        for k in range(8):
            for i in range(8):
                of_a[i] = tile_a[y + 8 * i, k]
                of_b[i] = tile_b[k, x + 8 * i]
            for i in range(8):
                for j in range(8):
                    sums[i, j] = sums[i, j] + of_a[i] * of_b[j]
        cuda.syncthreads()
        start += 8
    for j in range(8):
        for i in range(8):
            c[row + 8 * i, col + 8 * j] = sums[i, j]


@cuda.jit
def turned(a, b, c):
    tile_a = cuda.shared.array(8 * 68, np.float32, alignment=16)
    tile_b = cuda.shared.array((8, 64), np.float32)
    sums = cuda.local.array((8, 8), np.float32)
    of_a = cuda.local.array(8, np.float32)
    of_b = cuda.local.array(8, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    clear(sums)
    for start in range(0, a.shape[1], 8):
        for i in range(8):
            tile_a[x * PITCH + y + 8 * i] = a[row + y + 8 * i, start + x]
            tile_b[i, 8 * y + x] = b[start + i, col + 8 * y + x]
        cuda.syncthreads()
        for k in range(8):
            at = k * PITCH + 8 * y
            of_a[0], of_a[1], of_a[2], of_a[3] = load4(tile_a, at)
            of_a[4], of_a[5], of_a[6], of_a[7] = load4(tile_a, at + 4)
            for e in range(8):
                of_b[e] = tile_b[k, x + 8 * e]
            for i in range(8):
                for j in range(8):
                    sums[i, j] = sums[i, j] + of_a[i] * of_b[j]
        cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            c[row + 8 * y + i, col + x + 8 * j] = sums[i, j]


@cuda.jit
def ahead(a, b, c):
    tile_a = cuda.shared.array(1088, np.float32, alignment=16)
    tile_b = cuda.shared.array((2, 8, PITCH), np.float32)
    sums = cuda.local.array((8, 8), np.float32)
    of_a = cuda.local.array(8, np.float32)
    coming = cuda.local.array((2, 8), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    clear(sums)
    steps = a.shape[1] // 8
    for s in range(-1, steps):
        if s < steps - 1:
            for i in range(8):
                coming[0, i] = a[row + y + 8 * i, 8 * (s + 1) + x]
                coming[1, i] = b[8 * (s + 1) + i, col + 8 * y + x]
        if s >= 0:
            for k in range(8):
                at = ((s & 1) * 8 + k) * PITCH + 8 * y
                of_a[0], of_a[1], of_a[2], of_a[3] = load4(tile_a, at)
                of_a[4], of_a[5], of_a[6], of_a[7] = load4(tile_a, at + 4)
                for j in range(8):
                    of_b = tile_b[s & 1, k, x + 8 * j]
                    for i in range(8):
                        sums[i, j] += of_a[i] * of_b
        if s < steps - 1:
            for i in range(8):
                tile_a[(((s + 1) & 1) * 8 + x) * PITCH + y + 8 * i] = coming[0, i]
                tile_b[(s + 1) & 1, i, 8 * y + x] = coming[1, i]
            cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            c[row + 8 * y + i, col + x + 8 * j] = sums[i, j]


def place(number, rows, cols, group):
    found = []
    for first in range(0, rows, group):
        for col in range(cols):
            found += [(row, col) for row in range(first, min(first + group, rows))]
    return found[number]
