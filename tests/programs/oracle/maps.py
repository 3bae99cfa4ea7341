"""One thread, one element: the first kernels of the course, in one to three dimensions, with a
guard at the ragged edge."""

import numpy as np
from numba import cuda


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def zip_by_hand(a, b, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < out.shape[0]:
        out[i] = a[i] - b[i]


@cuda.jit
def fill_2d(out):
    col, row = cuda.grid(2)
    rows, cols = out.shape
    if row < rows and col < cols:
        out[row, col] = row * 1000 + col


@cuda.jit
def place_in_3d(out):
    x, y, z = cuda.grid(3)
    if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        out[z, y, x] = x + 100 * y + 10000 * z


@cuda.jit
def where_am_i(out):
    """Every built-in coordinate, once: one row of ``out`` for each thread of the grid."""
    block = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
    thread = cuda.threadIdx.x + cuda.blockDim.x * (
        cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z
    )
    place = block * cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z + thread
    x, y, z = cuda.gridsize(3)
    out[place, 0] = cuda.threadIdx.x + 100 * cuda.threadIdx.y + 10000 * cuda.threadIdx.z
    out[place, 1] = cuda.blockIdx.x + 100 * cuda.blockIdx.y + 10000 * cuda.blockIdx.z
    out[place, 2] = x + 100 * y + 10000 * z
    out[place, 3] = cuda.gridDim.x + 100 * cuda.gridDim.y + 10000 * cuda.gridDim.z


@cuda.jit
def stride_loop(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i] + x[i]


@cuda.jit
def stride_loop_2d(x, out):
    col, row = cuda.grid(2)
    width, height = cuda.gridsize(2)
    for r in range(row, x.shape[0], height):
        for c in range(col, x.shape[1], width):
            out[r, c] = x[r, c] - 1


@cuda.jit
def gather(x, index, out):
    i = cuda.grid(1)
    if i < index.size:
        out[i] = x[index[i]]


@cuda.jit
def scatter(x, index, out):
    i = cuda.grid(1)
    if i < index.size:
        out[index[i]] = x[i]


@cuda.jit
def all_to_one(x, out):
    """A broadcast: every lane reads the same element, and a length and a dimension count are
    values."""
    i = cuda.grid(1)
    if i < len(out):
        out[i] = x[0] + x.ndim + len(x)


def launches(rng):
    def floats(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    for n, threads in [(1, 1), (31, 32), (100, 32), (200, 96), (77, 50)]:
        blocks = -(-n // threads)
        yield saxpy, blocks, threads, (np.float32(2.5), floats(n), floats(n))
        yield zip_by_hand, blocks, threads, (floats(n), floats(n), floats(n))
        yield gather, blocks, threads, (floats(n), rng.integers(0, n, n), floats(n))
        yield scatter, blocks, threads, (floats(n), rng.permutation(n).astype(np.int64), floats(n))
        yield all_to_one, blocks, threads, (floats(n), floats(n))
    for shape, block in [((5, 7), (4, 4)), ((10, 33), (32, 2)), ((9, 3), (3, 5))]:
        grid = (-(-shape[1] // block[0]), -(-shape[0] // block[1]))
        yield fill_2d, grid, block, (np.zeros(shape, np.int32),)
        yield fill_2d, grid, block, (np.zeros(shape, np.int32, order="F"),)
        yield stride_loop_2d, (2, 1), block, (floats(*shape), floats(*shape))
    yield place_in_3d, (2, 2, 2), (3, 2, 2), (np.zeros((3, 4, 5), np.int64),)
    yield place_in_3d, (1, 2, 1), (8, 2, 3), (np.zeros((3, 3, 7), np.int64),)
    yield where_am_i, (2, 3, 1), (3, 2, 4), (np.zeros((144, 4), np.int64),)
    yield where_am_i, (1, 1, 2), (33,), (np.zeros((66, 4), np.int64),)
    for n, blocks, threads in [(100, 2, 32), (5, 1, 32), (130, 3, 20)]:
        yield stride_loop, blocks, threads, (floats(n), floats(n))
