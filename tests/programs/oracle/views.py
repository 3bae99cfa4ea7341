"""Slices, rows and other views of arrays, in global, shared and local memory."""

import numpy as np
from numba import cuda, float32

TILE = 8


@cuda.jit(device=True)
def total(part):
    """The sum of a view of any length."""
    found = 0.0
    for k in range(part.shape[0]):
        found += part[k]
    return found


@cuda.jit(device=True)
def put(row, k, value):
    row[k] = value


@cuda.jit
def rows(a, out):
    """A partial index is a row, and a slice with : a column."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        row = a[i]
        column = a[:, i % a.shape[1]]
        same = a[i, ...]
        out[i, 0] = row[0] + row[-1]
        out[i, 1] = column[2] + len(column) + row.size + row.ndim + column.shape[0]
        out[i, 2] = total(a[i]) + total(same)
        put(out[i], 3, row[1])


@cuda.jit
def windows(x, out):
    """Slices whose ends differ from thread to thread, some of them empty or cut off at the array's
    ends."""
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = total(x[i : i + 3])
        out[i, 1] = total(x[-i:])
        out[i, 2] = total(x[i - 2 : i])
        out[i, 3] = len(x[i::2]) + len(x[:i:-1]) + len(x[i : i - 4 : -1])
        out[i, 4] = total(x[1:-1][i % 3 :][::2])


@cuda.jit
def blocks_of_a_matrix(a, out):
    """A tile of a matrix, and a column of the tile."""
    i, j = cuda.grid(2)
    if i + 2 <= a.shape[0] and j + 2 <= a.shape[1]:
        tile = a[i : i + 2, j : j + 2]
        out[i, j] = (
            tile[0, 0] * tile[1, 1] - tile[0, 1] * tile.T[0, 1] + tile[:, 1][0] + tile[-1][-1]
        )


@cuda.jit
def shared_rows(x, out):
    """Every thread fills a row of a shared tile, and reads a column of it after the barrier."""
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile = cuda.shared.array((TILE, TILE), float32)
    mine = tile[t]
    mine[:] = x[i]
    mine[t] = 0
    tile[t, 1:3] = (1.5, 2.5)
    cuda.syncthreads()
    column = tile[:, t]
    out[i] = total(column)


@cuda.jit
def local_parts(x, out):
    """Views of local memory, one of them of another type."""
    i = cuda.grid(1)
    if i < x.size:
        buffer = cuda.local.array((2, 4), float32)
        buffer[:] = x[i]
        head = buffer[0]
        head[1:] = 2.0
        buffer[1, ::2] = i
        out[i] = total(buffer[0]) + 10 * total(buffer[1]) + buffer.reshape(8)[5] + buffer.T[3, 1]


@cuda.jit
def bits(x, out):
    """The bits of a float, seen as an integer."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x.view(np.uint32)[i] >> 20


@cuda.jit
def shapes(a, out):
    """What can be asked of an array."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        m, n = a.shape
        part = a[i:]
        out[i] = (
            m
            + n
            + a.ndim
            + a.size
            + a.itemsize
            + a.nbytes
            + a.strides[0]
            + a.T.shape[0]
            + part.size
            + part.nbytes
            + len(part)
        )


@cuda.jit
def flat(a, out):
    """An array in C order, by one index."""
    i = cuda.grid(1)
    if i < a.size:
        out.flat[i] = a.flat[i] + a.reshape(-1)[i] + a.flat[a.size - 1 - i]


@cuda.jit
def chosen_part(x, out):
    """A variable that stands for different parts of one array in different threads, also through a
    loop of different length."""
    i = cuda.grid(1)
    if i < x.size:
        part = x
        if i % 3 == 0:
            part = x[2:]
        elif i % 3 == 1:
            part = x[i:]
        found = 0.0
        while len(part) > 3:
            found += part[0]
            part = part[1:] if i % 2 else part[2:]
        out[i] = found + len(part)


@cuda.jit
def long_way(x, out):
    """Few threads stay in the loop for long, and their view goes on moving."""
    i = cuda.grid(1)
    part = x[i % 5 :]
    steps = 60 if i % 97 == 0 else 2
    for k in range(steps):
        out[i] += part[0] * (k + 1)
        part = part[1:]
    out[i] += part[0]


@cuda.jit
def new_axes(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[None, :][0, i] + x[:, np.newaxis][i, 0]


@cuda.jit
def arrays_of_a_tuple(pair, out):
    """A tuple of arrays as an argument."""
    i = cuda.grid(1)
    if i < out.size:
        a, _ = pair
        out[i] = a[i] + pair[1][i] * len(pair)


def launches(rng):
    matrix = rng.standard_normal((12, 6))
    yield rows, 2, 8, (matrix, np.zeros((12, 4)))
    yield windows, 3, 8, (rng.integers(-9, 9, 20), np.zeros((20, 5)))
    yield blocks_of_a_matrix, (2, 2), (8, 4), (matrix, np.zeros((12, 6)))
    yield (
        shared_rows,
        3,
        TILE,
        (rng.integers(-9, 9, 3 * TILE).astype(np.float32), np.zeros(3 * TILE)),
    )
    yield local_parts, 2, 16, (rng.integers(-9, 9, 30).astype(np.float32), np.zeros(30))
    yield bits, 2, 16, (rng.standard_normal(30).astype(np.float32), np.zeros(30, np.int64))
    yield shapes, 2, 8, (matrix, np.zeros(12, np.int64))
    yield flat, 5, 16, (matrix, np.zeros((12, 6)))
    yield chosen_part, 2, 16, (rng.integers(0, 50, 27), np.zeros(27))
    yield long_way, 40, 64, (rng.integers(0, 50, 80), np.zeros(40 * 64))
    yield new_axes, 2, 8, (rng.standard_normal(11), np.zeros(11))
    yield (
        arrays_of_a_tuple,
        2,
        8,
        ((rng.standard_normal(14), rng.standard_normal(14)), np.zeros(14)),
    )
