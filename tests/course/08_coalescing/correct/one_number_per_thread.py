"""Threads numbered along the whole grid, one shared sum per column, a tile turned by XOR, a closed form, a histogram for each half block."""

import numpy as np

from warpwise import cuda

TILE = 32
BINS = 128


@cuda.jit
def copy_matrix(src, dst):
    rows, cols = src.shape
    x, y = cuda.grid(2)
    width, height = cuda.gridsize(2)
    k = y * width + x
    while k < rows * cols:
        dst[k // cols, k % cols] = src[k // cols, k % cols]
        k += width * height


def sectors_for(stride, offset, itemsize):
    first = itemsize * (offset + stride * np.arange(32))
    return np.unique(first // 32).size


@cuda.jit
def column_sums(a, out):
    sums = cuda.shared.array(TILE, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * TILE + x
    if y == 0:
        sums[x] = 0
    cuda.syncthreads()
    total = np.float32(0)
    if col < a.shape[1]:
        for row in range(y, a.shape[0], TILE):
            total += a[row, col]
    cuda.atomic.add(sums, x, total)
    cuda.syncthreads()
    if y == 0 and col < a.shape[1]:
        out[col] = sums[x]


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = TILE * cuda.blockIdx.y, TILE * cuda.blockIdx.x
    if top + y < src.shape[0] and left + x < src.shape[1]:
        tile[y, x ^ y] = src[top + y, left + x]
    cuda.syncthreads()
    if left + y < dst.shape[0] and top + x < dst.shape[1]:
        dst[left + y, top + x] = tile[x, y ^ x]


@cuda.jit
def planes(particles, out):
    flat = cuda.grid(1)
    i, k = divmod(flat, 4)
    if i < out.shape[1]:
        out[k, i] = particles[i, k]


@cuda.jit
def histogram(x, counts):
    halves = cuda.shared.array((2, BINS), np.int32)
    half, k = divmod(cuda.threadIdx.x, BINS)
    halves[half, k] = 0
    cuda.syncthreads()
    width = cuda.gridsize(1)
    for trip in range((x.size + width - 1) // width):
        i = trip * width + cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(halves, (half, x[i]), 1)
    cuda.syncthreads()
    if half == 0:
        cuda.atomic.add(counts, k, halves[0, k] + halves[1, k])
