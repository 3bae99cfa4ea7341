"""Device functions, a table of limits, atomics for the sum, a loop over the window from its end, and times by three arrays."""

import numpy as np

from warpwise import cuda

BLOCK, RADIUS, WINDOW = 128, 4, 136


def choose_memory(variables):
    found = []
    for users, outlives, written, same, dynamic, size in variables.tolist():
        able = (
            users == 1 and not outlives and not dynamic and size <= 255 * 4,
            users == 1 and not outlives and size <= 512 * 1024,
            users <= 2 and not outlives and size <= 48 * 1024,
            users == 3 and not written and same and size <= 64 * 1024,
            True,
        )
        found.append([bool(fits) for fits in able].index(True))
    return np.array(found, dtype=np.int64)


@cuda.jit(device=True)
def value_or_zero(x, i):
    if i < 0 or i >= x.size:
        return np.float32(0)
    return x[i]


@cuda.jit
def minus_mirror(x, out):
    part = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = value_or_zero(x, i)
    cuda.syncthreads()
    size = min(cuda.blockDim.x, x.size - cuda.blockIdx.x * cuda.blockDim.x)
    if i < x.size:
        out[i] = part[t] - part[size - t - 1]


@cuda.jit
def centre(x, out):
    total = cuda.shared.array(1, np.float32)
    t = cuda.threadIdx.x
    for piece in range(cuda.blockIdx.x, (x.size + BLOCK - 1) // BLOCK, cuda.gridDim.x):
        i = BLOCK * piece + t
        mine = value_or_zero(x, i)
        if t == 0:
            total[0] = np.float32(0)
        cuda.syncthreads()
        cuda.atomic.add(total, 0, mine)
        cuda.syncthreads()
        mean = total[0] / np.float32(min(BLOCK, x.size - BLOCK * piece))
        cuda.syncthreads()
        if i < x.size:
            out[i] = mine - mean


@cuda.jit
def neighbour_sums(x, out):
    part = cuda.shared.array(WINDOW, np.float32)
    first = cuda.blockIdx.x * BLOCK - RADIUS
    place = WINDOW - 1 - cuda.threadIdx.x
    while place >= 0:
        part[place] = value_or_zero(x, first + place)
        place -= BLOCK
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        total = np.float32(0)
        for place in range(cuda.threadIdx.x, cuda.threadIdx.x + 2 * RADIUS + 1):
            total += part[place]
        out[i] = total


def chunk_ends(copy_in, kernel, copy_out, pinned, buffers):
    if not pinned:
        return np.cumsum(np.stack([copy_in, kernel, copy_out], axis=1)).reshape(-1, 3)
    arrived, computed, returned = [], [], []
    for k in range(len(copy_in)):
        begin = arrived[-1] if arrived else 0.0
        if k >= buffers:
            begin = max(begin, returned[k - buffers])
        arrived.append(begin + copy_in[k])
        computed.append(max([arrived[k], *computed[-1:]]) + kernel[k])
        returned.append(max([computed[k], *returned[-1:]]) + copy_out[k])
    return np.column_stack([arrived, computed, returned])
