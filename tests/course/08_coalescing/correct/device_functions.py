"""Device functions, a flat tile, a tree of partial sums, early returns, a loop over bytes, and particles that change hands."""

import numba
from numba import cuda as gpu

from warpwise import cuda


@cuda.jit(device=True)
def inside(row, col, shape):
    return 0 <= row < shape[0] and 0 <= col < shape[1]


@cuda.jit
def copy_matrix(src, dst):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if not inside(row, col, src.shape):
        return
    dst[row, col] = src[row, col]


def sectors_for(stride, offset, itemsize):
    sectors = set()
    for lane in range(32):
        first = itemsize * (offset + stride * lane)
        for byte in range(first, first + itemsize):
            sectors.add(byte // 32)
    return len(sectors)


@cuda.jit
def column_sums(a, out):
    partial = cuda.shared.array(1024, numba.float32)
    x, y = gpu.threadIdx.x, gpu.threadIdx.y
    col = gpu.blockIdx.x * 32 + x
    partial[32 * y + x] = 0
    row = y
    while col < a.shape[1] and row < a.shape[0]:
        partial[32 * y + x] += a[row, col]
        row += 32
    half = 16
    while half > 0:
        cuda.syncthreads()
        if y < half:
            partial[32 * y + x] += partial[32 * (y + half) + x]
        half //= 2
    if y == 0 and col < a.shape[1]:
        out[col] = partial[x]


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array(32 * 33, numba.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if inside(row, col, src.shape):
        tile[33 * y + x] = src[row, col]
    cuda.syncthreads()
    row, col = cuda.blockIdx.x * 32 + y, cuda.blockIdx.y * 32 + x
    if inside(row, col, dst.shape):
        dst[row, col] = tile[33 * x + y]


@cuda.jit
def planes(particles, out):
    block = cuda.shared.array((64, 5), numba.float32)
    t = cuda.threadIdx.x
    i = 64 * cuda.blockIdx.x + t // 4
    if inside(i, t % 4, particles.shape):
        block[t // 4, t % 4] = particles[i, t % 4]
    cuda.syncthreads()
    i = 64 * cuda.blockIdx.x + t % 64
    if inside(t // 64, i, out.shape):
        out[t // 64, i] = block[t % 64, t // 64]


@cuda.jit
def histogram(x, counts):
    mine = cuda.shared.array(128, numba.int32)
    for k in range(cuda.threadIdx.x, mine.size, cuda.blockDim.x):
        mine[k] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < x.size:
        cuda.atomic.add(mine, x[i], 1)
        i += cuda.gridDim.x * cuda.blockDim.x
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, mine.size, cuda.blockDim.x):
        if mine[k] > 0:
            cuda.atomic.add(counts, k, mine[k])
