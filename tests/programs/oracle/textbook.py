"""The kernels that a course begins and ends with, from saxpy to flash attention, as a textbook
writes them.

``tools/bench.py`` measures these, at the sizes of ``LARGE``; here they run at small sizes beside
Numba's simulator."""

# expect: rounding

import math

import numpy as np
from numba import cuda, float32, int32

TILE = 16
PADDED = TILE + 1  # one more column: a column of the tile then lies in 16 different banks
THREADS = 128
BINS = 32
LOWEST = np.float32(-3e38)


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def matrix_add(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = a[row, col] + b[row, col]


@cuda.jit
def matmul_1_naive(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def matmul_2_tiled(a, b, c):
    """Each side a multiple of TILE."""
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = b[start + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, col] = total


@cuda.jit
def transpose_1_naive(src, dst):
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        dst[col, row] = src[row, col]


@cuda.jit
def transpose_2_tiled(src, dst):
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        tile[ty, tx] = src[row, col]
    cuda.syncthreads()
    col = cuda.blockIdx.y * TILE + tx
    row = cuda.blockIdx.x * TILE + ty
    if row < dst.shape[0] and col < dst.shape[1]:
        dst[row, col] = tile[tx, ty]


@cuda.jit
def reduction(x, out):
    """One sum for each block: half of the threads go on at every step."""
    part = cuda.shared.array(THREADS, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def scan(x, out):
    """An inclusive prefix sum in each block (Hillis and Steele), between two buffers that change
    places."""
    buffer = cuda.shared.array((2, THREADS), float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    source = 0
    buffer[source, t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        target = 1 - source
        if t >= step:
            buffer[target, t] = buffer[source, t] + buffer[source, t - step]
        else:
            buffer[target, t] = buffer[source, t]
        cuda.syncthreads()
        source = target
        step *= 2
    if i < out.size:
        out[i] = buffer[source, t]


@cuda.jit
def histogram(x, bins):
    """Counted in shared memory by each block, then added to the grid's."""
    own = cuda.shared.array(BINS, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < BINS:
        own[t] = 0
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.add(own, x[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(bins, t, own[t])


@cuda.jit
def softmax(x, out):
    """One block for each row: its largest value, then the sum of exponentials, each over a tree in
    shared memory."""
    part = cuda.shared.array(THREADS, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    largest = LOWEST
    for col in range(t, x.shape[1], THREADS):
        largest = max(largest, x[row, col])
    part[t] = largest
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] = max(part[t], part[t + step])
        cuda.syncthreads()
        step //= 2
    largest = part[0]
    cuda.syncthreads()  # all have read part[0] before it is written again
    total = float32(0)
    for col in range(t, x.shape[1], THREADS):
        total += math.exp(x[row, col] - largest)
    part[t] = total
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    total = part[0]
    for col in range(t, x.shape[1], THREADS):
        out[row, col] = math.exp(x[row, col] - largest) / total


@cuda.jit
def stencil(src, dst, weight):
    """One step of heat over a plate: five points; the border stays."""
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        here = src[row, col]
        if 0 < row < src.shape[0] - 1 and 0 < col < src.shape[1] - 1:
            around = src[row - 1, col] + src[row + 1, col] + src[row, col - 1] + src[row, col + 1]
            dst[row, col] = here + weight * (around - float32(4) * here)
        else:
            dst[row, col] = here


@cuda.jit
def flash_attention(q, k, v, out, scale):
    """Attention whose scores never leave the chip: a block holds TILE queries of one head, and goes
    over K and V tile by tile.

    q, k, v, out: (heads, n, TILE). A thread has one element of the block's output. ``largest`` and
    ``total`` belong to its row, and so far: when a tile brings a larger score, what was summed
    before shrinks by exp(old - new)."""
    tile_q = cuda.shared.array((TILE, TILE), float32)
    tile_k = cuda.shared.array((TILE, PADDED), float32)
    tile_v = cuda.shared.array((TILE, TILE), float32)
    scores = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    head, row, n = cuda.blockIdx.y, cuda.blockIdx.x * TILE + cuda.threadIdx.y, q.shape[1]
    tile_q[ty, tx] = q[head, row, tx] if row < n else float32(0)
    largest, total, summed = LOWEST, float32(0), float32(0)
    for start in range(0, n, TILE):
        tile_k[ty, tx] = k[head, start + ty, tx] if start + ty < n else float32(0)
        tile_v[ty, tx] = v[head, start + ty, tx] if start + ty < n else float32(0)
        cuda.syncthreads()
        score = float32(0)
        for d in range(TILE):
            score += tile_q[ty, d] * tile_k[tx, d]
        scores[ty, tx] = score * scale if start + tx < n else LOWEST
        cuda.syncthreads()
        before = largest
        for j in range(TILE):
            largest = max(largest, scores[ty, j])
        shrink = math.exp(before - largest)
        total *= shrink
        summed *= shrink
        for j in range(TILE):
            share = math.exp(scores[ty, j] - largest)
            total += share
            summed += share * tile_v[j, tx]
        cuda.syncthreads()
    if row < n:
        out[head, row, tx] = summed / total


# --- launches: the same for both simulators ---


def floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def on_vectors(kernel, rng, n):
    x = floats(rng, n)
    blocks = -(-n // THREADS)
    if kernel is saxpy:
        return kernel, blocks, THREADS, (np.float32(2), x, floats(rng, n))
    return kernel, blocks, THREADS, (x, np.zeros(blocks if kernel is reduction else n, np.float32))


def on_histogram(rng, n):
    return (
        histogram,
        -(-n // THREADS),
        THREADS,
        (rng.integers(0, BINS, n).astype(np.int32), np.zeros(BINS, np.int32)),
    )


def on_matrices(kernel, rng, rows, cols):
    src = floats(rng, rows, cols)
    more = floats(rng, rows, cols), np.zeros_like(src)
    if kernel in (transpose_1_naive, transpose_2_tiled):
        more = (np.zeros((cols, rows), np.float32),)
    if kernel is stencil:
        more = np.zeros_like(src), np.float32(0.1)
    return kernel, (-(-cols // TILE), -(-rows // TILE)), (TILE, TILE), (src, *more)


def on_matmul(kernel, rng, m, k, n):
    return (
        kernel,
        (-(-n // TILE), -(-m // TILE)),
        (TILE, TILE),
        (floats(rng, m, k), floats(rng, k, n), np.zeros((m, n), np.float32)),
    )


def on_softmax(rng, rows, cols):
    return softmax, rows, THREADS, (floats(rng, rows, cols), np.zeros((rows, cols), np.float32))


def on_attention(rng, heads, n):
    arrays = (
        *(floats(rng, heads, n, TILE) for _ in range(3)),
        np.zeros((heads, n, TILE), np.float32),
    )
    return (
        flash_attention,
        (-(-n // TILE), heads),
        (TILE, TILE),
        (*arrays, np.float32(1 / math.sqrt(TILE))),
    )


def launches(rng):
    yield on_vectors(saxpy, rng, 300)
    yield on_matrices(matrix_add, rng, 20, 30)
    yield on_matmul(matmul_1_naive, rng, 18, 9, 20)
    yield on_matmul(matmul_2_tiled, rng, 16, 32, 32)
    yield on_matrices(transpose_1_naive, rng, 18, 20)
    yield on_matrices(transpose_2_tiled, rng, 18, 20)
    yield on_vectors(reduction, rng, 300)
    yield on_vectors(scan, rng, 200)
    yield on_histogram(rng, 300)
    yield on_softmax(rng, 3, 200)
    yield on_matrices(stencil, rng, 20, 37)
    yield on_attention(rng, 2, 24)


#: Launches for measuring: each takes Numba's simulator a few seconds.
LARGE = {
    "saxpy": lambda rng: on_vectors(saxpy, rng, 32_768),
    "matrix add": lambda rng: on_matrices(matrix_add, rng, 160, 192),
    "naive matmul": lambda rng: on_matmul(matmul_1_naive, rng, 112, 112, 112),
    "tiled matmul": lambda rng: on_matmul(matmul_2_tiled, rng, 64, 64, 64),
    "transpose": lambda rng: on_matrices(transpose_2_tiled, rng, 96, 112),
    "reduction": lambda rng: on_vectors(reduction, rng, 2048),
    "scan": lambda rng: on_vectors(scan, rng, 2048),
    "histogram": lambda rng: on_histogram(rng, 4096),
    "softmax": lambda rng: on_softmax(rng, 12, 512),
    "stencil": lambda rng: on_matrices(stencil, rng, 160, 192),
    "flash attention": lambda rng: on_attention(rng, 8, 32),
}
