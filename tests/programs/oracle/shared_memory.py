"""What threads of a block do together: shared arrays and barriers. Every shared array stands on a
line of its own."""

import numpy as np
from numba import cuda, float32, int32, int64

THREADS = 64
TILE = 8
HALO = THREADS + 2  # a name: the compiler takes no computed shape


@cuda.jit
def reverse_in_block(x):
    buffer = cuda.shared.array(THREADS, dtype=int64)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * THREADS
    buffer[t] = x[start + t]
    cuda.syncthreads()
    x[start + t] = buffer[THREADS - 1 - t]


@cuda.jit
def block_sums(x, out):
    """A tree: half of the threads go on at every step, all of them meet at every barrier."""
    part = cuda.shared.array(THREADS, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else np.float32(0)
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
def block_sums_upwards(x, out):
    """The same with a growing stride and lanes that part within a warp."""
    part = cuda.shared.array(shape=(THREADS,), dtype=int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    step = 1
    while step < cuda.blockDim.x:
        cuda.syncthreads()
        if t % (2 * step) == 0:
            part[t] += part[t + step]
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def scan_in_block(x, out):
    """An inclusive prefix sum with two buffers that change places."""
    buffer = cuda.shared.array((2, THREADS), int64)
    t = cuda.threadIdx.x
    source = 0
    buffer[source, t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        target = 1 - source
        buffer[target, t] = buffer[source, t]
        if t >= step:
            buffer[target, t] += buffer[source, t - step]
        cuda.syncthreads()
        source = target
        step *= 2
    out[t] = buffer[source, t]


@cuda.jit
def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[ty, tx] = (
            a[row, start + tx] if row < a.shape[0] and start + tx < a.shape[1] else np.float32(0)
        )
        tile_b[ty, tx] = (
            b[start + ty, col] if start + ty < b.shape[0] and col < b.shape[1] else np.float32(0)
        )
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@cuda.jit
def histogram_by_block(x, out):
    """Eight bins for each block and no atomics: one thread counts one bin."""
    values = cuda.shared.array(THREADS, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    values[t] = x[i] if i < x.size else -1
    cuda.syncthreads()
    if t < 8:
        count = 0
        for k in range(THREADS):
            if values[k] == t:
                count += 1
        out[cuda.blockIdx.x, t] = count


@cuda.jit
def stencil(x, out):
    """Three neighbours, with a halo that two threads load."""
    near = cuda.shared.array(HALO, int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    near[t + 1] = x[i] if i < x.size else 0
    if t == 0:
        near[0] = x[i - 1] if i > 0 else 0
    if t == THREADS - 1:
        near[t + 2] = x[i + 1] if i + 1 < x.size else 0
    cuda.syncthreads()
    if i < x.size:
        out[i] = near[t] + 2 * near[t + 1] + near[t + 2]


@cuda.jit
def one_for_all(x, out):
    """One thread writes, all read; the element differs from block to block."""
    chosen = cuda.shared.array(2, int64)
    if cuda.threadIdx.x == 0:
        chosen[cuda.blockIdx.x % 2] = x[cuda.blockIdx.x]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < out.size:
        out[i] = chosen[cuda.blockIdx.x % 2]


@cuda.jit
def rotate_by_block(x, out):
    """Shared indices that depend on the block."""
    ring = cuda.shared.array(THREADS, int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    ring[(t + cuda.blockIdx.x) % THREADS] = x[i]
    cuda.syncthreads()
    out[i] = ring[t]


@cuda.jit
def early_leavers(x, out):
    """Threads that have returned count as arrived at the barrier."""
    part = cuda.shared.array(THREADS, int64)
    t = cuda.threadIdx.x
    if t >= x.size:
        return
    part[t] = x[t]
    cuda.syncthreads()
    out[t] = part[x.size - 1 - t]


def launches(rng):
    for n in (64, 100, 192):
        blocks = -(-n // THREADS)
        yield reverse_in_block, blocks, THREADS, (rng.integers(0, 99, blocks * THREADS),)
        yield (
            block_sums,
            blocks,
            THREADS,
            (rng.standard_normal(n).astype(np.float32), np.zeros(blocks, np.float32)),
        )
        yield (
            block_sums_upwards,
            blocks,
            THREADS,
            (rng.integers(0, 99, n), np.zeros(blocks, np.int64)),
        )
        yield (
            histogram_by_block,
            blocks,
            THREADS,
            (rng.integers(0, 8, n).astype(np.int32), np.zeros((blocks, 8), np.int32)),
        )
        yield stencil, blocks, THREADS, (rng.integers(0, 99, n), np.zeros(n, np.int64))
        yield one_for_all, blocks, THREADS, (rng.integers(0, 99, blocks), np.zeros(n, np.int64))
        yield (
            rotate_by_block,
            blocks,
            THREADS,
            (rng.integers(0, 99, blocks * THREADS), np.zeros(blocks * THREADS, np.int64)),
        )
    yield scan_in_block, 1, THREADS, (rng.integers(0, 99, THREADS), np.zeros(THREADS, np.int64))
    yield early_leavers, 1, THREADS, (rng.integers(0, 99, 50), np.zeros(50, np.int64))
    for m, k, n in [(8, 8, 8), (9, 5, 11), (16, 20, 7)]:
        a, b = (rng.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
        grid = (-(-n // TILE), -(-m // TILE))
        yield matmul_tiled, grid, (TILE, TILE), (a, b, np.zeros((m, n), np.float32))
