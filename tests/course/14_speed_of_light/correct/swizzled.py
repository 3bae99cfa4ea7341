"""The turned tile without padding, its columns swizzled by XOR; whole numbers, and pieces in sets."""
# ruff: noqa: F821

from collections import Counter

import numpy as np

from warpwise import cuda
from warpwise.kernels.wide import load4


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
    """A row of eight b's is held, and four a's at a time meet it."""
    tile_a = cuda.shared.array(512, np.float32, alignment=16)
    tile_b = cuda.shared.array((8, 64), np.float32)
    held = cuda.local.array(8, np.float32)
    sums = cuda.local.array((8, 8), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 8 * y + x
    first_row, first_col = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    for i in range(8):
        for j in range(8):
            sums[i, j] = 0
    for start in range(0, a.shape[1], 8):
        for part in range(8):
            row, k = t // 8 + 8 * part, t % 8
            tile_a[64 * k + (row ^ (4 * k))] = a[first_row + row, start + k]
            tile_b[part, t] = b[start + part, first_col + t]
        cuda.syncthreads()
        for k in range(8):
            for j in range(8):
                held[j] = tile_b[k, x + 8 * j]
            for half in range(2):
                p, q, r, s = load4(tile_a, 64 * k + ((8 * y + 4 * half) ^ (4 * k)))
                for j in range(8):
                    sums[4 * half, j] += p * held[j]
                    sums[4 * half + 1, j] += q * held[j]
                    sums[4 * half + 2, j] += r * held[j]
                    sums[4 * half + 3, j] += s * held[j]
        cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            c[first_row + 8 * y + i, first_col + x + 8 * j] = sums[i, j]


@cuda.jit
def ahead(a, b, c):
    """A pair is stored at the beginning of its trip, and the next is asked for behind the barrier."""
    tile_a = cuda.shared.array(1024, np.float32, alignment=16)
    tile_b = cuda.shared.array((2, 8, 64), np.float32)
    sums = cuda.local.array((8, 8), np.float32)
    of_a = cuda.local.array(8, np.float32)
    coming_a = cuda.local.array(8, np.float32)
    coming_b = cuda.local.array(8, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 8 * y + x
    row, k_of_a = t // 8, t % 8
    first_row, first_col = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    for part in range(8):
        coming_a[part] = a[first_row + row + 8 * part, k_of_a]
        coming_b[part] = b[part, first_col + t]
        for j in range(8):
            sums[part, j] = 0
    for start in range(0, a.shape[1], 8):
        half = start // 8 % 2
        for part in range(8):
            at = (row + 8 * part) ^ (4 * k_of_a)
            tile_a[512 * half + 64 * k_of_a + at] = coming_a[part]
            tile_b[half, part, t] = coming_b[part]
        cuda.syncthreads()
        if start + 8 < a.shape[1]:
            for part in range(8):
                coming_a[part] = a[first_row + row + 8 * part, start + 8 + k_of_a]
                coming_b[part] = b[start + 8 + part, first_col + t]
        for k in range(8):
            for i in range(0, 8, 4):
                at = 512 * half + 64 * k + ((8 * y + i) ^ (4 * k))
                of_a[i], of_a[i + 1], of_a[i + 2], of_a[i + 3] = load4(tile_a, at)
            for j in range(8):
                of_b = tile_b[half, k, x + 8 * j]
                for i in range(8):
                    sums[i, j] += of_a[i] * of_b
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
