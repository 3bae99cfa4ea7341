"""The turned tile without padding, its columns swizzled by XOR; whole numbers, and pieces in sets."""
# ruff: noqa: F821

from collections import Counter

import numpy as np

from warpwise import cuda


def asked(m, n, k, side, r, s):
    blocks = (m // side) * (n // side)
    threads_of_a_block = (side // r) * (side // s)
    return blocks * k * side * 2, blocks * threads_of_a_block * k * (r + s)


def turns(addresses):
    pieces = [int(address) // 16 for address in addresses]
    together = 8
    for bit in (1, 2):
        if all(pieces[lane] == pieces[lane ^ bit] for lane in range(32)):
            together = 16
    taken = 0
    while pieces:
        group, pieces = set(pieces[:together]), pieces[together:]
        taken += max(Counter(piece % 8 for piece in group).values())
    return taken


@cuda.jit
def patch(a, b, c):
    tile_a = cuda.shared.array(512, np.float32)
    tile_b = cuda.shared.array(512, np.float32)
    sums = cuda.local.array(64, np.float32)
    of_b = cuda.local.array(8, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 8 * y + x
    for i in range(64):
        sums[i] = np.float32(0)
    for step in range(a.shape[1] // 8):
        for part in range(8):
            e = t + 64 * part
            tile_b[e] = b[8 * step + part, 64 * cuda.blockIdx.x + t]
            tile_a[e] = a[64 * cuda.blockIdx.y + e // 8, 8 * step + e % 8]
        cuda.syncthreads()
        for k in range(8):
            for j in range(8):
                of_b[j] = tile_b[64 * k + x + 8 * j]
            for i in range(8):
                of_a = tile_a[8 * (y + 8 * i) + k]
                for j in range(8):
                    sums[8 * i + j] += of_a * of_b[j]
        cuda.syncthreads()
    for e in range(64):
        c[64 * cuda.blockIdx.y + y + e // 8 * 8, 64 * cuda.blockIdx.x + x + e % 8 * 8] = sums[e]


@cuda.jit
def turned(a, b, c):
    """A row of eight b's is held, and one a at a time meets it."""
    tile_a = cuda.shared.array((8, 64), np.float32)
    tile_b = cuda.shared.array((8, 64), np.float32)
    held = cuda.local.array(8, np.float32)
    sums = cuda.local.array(64, np.float32)
    for s in range(64):
        sums[s] = 0
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 8 * y + x
    first_row, first_col = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    for start in range(0, a.shape[1], 8):
        for part in range(8):
            row, k = t // 8 + 8 * part, t % 8
            tile_a[k, row ^ (4 * k)] = a[first_row + row, start + k]
            tile_b[part, t] = b[start + part, first_col + t]
        cuda.syncthreads()
        for k in range(8):
            turn = 4 * k
            for j in range(8):
                held[j] = tile_b[k, x + 8 * j]
            for s in range(0, 64, 8):
                one = tile_a[k, (8 * y + s // 8) ^ turn]
                for j in range(8):
                    sums[s + j] += one * held[j]
        cuda.syncthreads()
    for s in range(64):
        c[first_row + 8 * y + s // 8, first_col + x + 8 * (s % 8)] = sums[s]


@cuda.jit
def ahead(a, b, c):
    """The next pair goes into the other tiles at once, and no register holds it."""
    tile_a = cuda.shared.array((2, 8, 64), np.float32)
    tile_b = cuda.shared.array((2, 8, 64), np.float32)
    sums = cuda.local.array((8, 8), np.float32)
    of_a = cuda.local.array(8, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 8 * y + x
    first_row, first_col = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    pairs = a.shape[1] // 8
    for s in range(pairs + 1):
        if s < pairs:
            for part in range(8):
                row, k = t // 8 + 8 * part, t % 8
                tile_a[s % 2, k, row ^ (4 * k)] = a[first_row + row, 8 * s + k]
                tile_b[s % 2, part, t] = b[8 * s + part, first_col + t]
        if s == 0:
            for i in range(8):
                for j in range(8):
                    sums[i, j] = 0
        else:
            last = (s - 1) % 2
            for k in range(8):
                for i in range(8):
                    of_a[i] = tile_a[last, k, (8 * y + i) ^ (4 * k)]
                for j in range(8):
                    of_b = tile_b[last, k, x + 8 * j]
                    for i in range(8):
                        sums[i, j] += of_a[i] * of_b
        if s < pairs:
            cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            c[first_row + 8 * y + i, first_col + x + 8 * j] = sums[i, j]


def place(number, rows, cols, group):
    top = 0
    while number >= min(group, rows - top) * cols:
        number -= min(group, rows - top) * cols
        top += group
    height = min(group, rows - top)
    return top + number % height, number // height
