"""Softmax of each row: y = exp(x - max) / sum(exp(x - max)), read one to three times.

x and y are flat, row by row, and a block has a row until step 5. Accesses per element: 4 in step 1,
3 in step 2, and 2 in the others, which keep the row on the chip. A short row that is read again
comes from a cache, so times differ less than accesses do. ``exp`` is that of the special-function
units (``fastmath``): relative errors stay below 1e-5 if numbers of a row are within 50 of each
other. The lowest number is finite, because ``fastmath`` does not support infinity.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

THREADS, WARP = 256, 32
MOST_WARPS = THREADS // WARP
LONGEST = 8192  # elements of a row, for steps 3 and 4: 32 KB, 32 numbers for each of 256 threads
OWN_QUADS = 8  # in a thread of steps 4 and 5
OWN = 4 * OWN_QUADS
LONGEST_OF_WARP = OWN * WARP
LANES, QUAD, N_THREADS = np.uint32(WARP), np.uint32(4), np.uint32(THREADS)
LOWEST, ZERO, ONE = np.float32(-3e38), np.float32(0), np.float32(1)
ALL = 0xFFFFFFFF


@cuda.jit(device=True, fastmath=True)
def warp_max(own):
    """Return the largest number of a warp, in all lanes."""
    for mask in (16, 8, 4, 2, 1):
        own = max(own, cuda.shfl_xor_sync(ALL, own, mask))
    return own


@cuda.jit(device=True, fastmath=True)
def warp_sum(own):
    """Return the sum of a warp's numbers, in all lanes."""
    for mask in (16, 8, 4, 2, 1):
        own += cuda.shfl_xor_sync(ALL, own, mask)
    return own


@cuda.jit(device=True)
def max_of_16(own):
    """Return the largest number of half a warp, in all of its lanes."""
    for mask in (8, 4, 2, 1):
        own = max(own, cuda.shfl_xor_sync(ALL, own, mask))
    return own


@cuda.jit(device=True)
def sum_of_16(own):
    """Return the sum of half a warp's numbers, in all of its lanes."""
    for mask in (8, 4, 2, 1):
        own += cuda.shfl_xor_sync(ALL, own, mask)
    return own


@cuda.jit(device=True, fastmath=True)
def block_max(own, of_warps):
    """Return the largest number of a block, in all threads.

    ``of_warps``: shared memory for nothing else.
    """
    own = warp_max(own)
    t = np.uint32(cuda.threadIdx.x)
    if t % LANES == np.uint32(0):
        of_warps[t // LANES] = own
    cuda.syncthreads()
    own = of_warps[0]
    for w in range(1, MOST_WARPS):
        if w * WARP < cuda.blockDim.x:
            own = max(own, of_warps[w])
    return own


@cuda.jit(device=True, fastmath=True)
def block_sum(own, of_warps):
    """Return the sum of a block's numbers, in all threads.

    ``of_warps``: shared memory for nothing else.
    """
    own = warp_sum(own)
    t = np.uint32(cuda.threadIdx.x)
    if t % LANES == np.uint32(0):
        of_warps[t // LANES] = own
    cuda.syncthreads()
    own = of_warps[0]
    for w in range(1, MOST_WARPS):
        if w * WARP < cuda.blockDim.x:
            own += of_warps[w]
    return own


@cuda.jit(fastmath=True)
def softmax_1_safe(x, y, columns):
    """One pass for the maximum, one for the sum, one for the result."""
    maxima = cuda.shared.array(MOST_WARPS, np.float32)
    sums = cuda.shared.array(MOST_WARPS, np.float32)
    t, row = np.uint32(cuda.threadIdx.x), np.uint32(np.uint32(cuda.blockIdx.x) * columns)
    most = LOWEST
    j = t
    while j < columns:
        most = max(most, x[np.uint32(row + j)])
        j = np.uint32(j + N_THREADS)
    most = block_max(most, maxima)
    total = ZERO
    j = t
    while j < columns:
        total += math.exp(x[np.uint32(row + j)] - most)
        j = np.uint32(j + N_THREADS)
    share = ONE / block_sum(total, sums)
    j = t
    while j < columns:
        at = np.uint32(row + j)
        y[at] = math.exp(x[at] - most) * share
        j = np.uint32(j + N_THREADS)


@cuda.jit(fastmath=True)
def softmax_2_online(x, y, columns):
    """A thread keeps its largest number and the sum relative to it, rescaled by a larger one."""
    maxima = cuda.shared.array(MOST_WARPS, np.float32)
    sums = cuda.shared.array(MOST_WARPS, np.float32)
    t, row = np.uint32(cuda.threadIdx.x), np.uint32(np.uint32(cuda.blockIdx.x) * columns)
    own, total = LOWEST, ZERO
    j = t
    while j < columns:
        value = x[np.uint32(row + j)]
        larger = max(own, value)
        total = total * math.exp(own - larger) + math.exp(value - larger)
        own = larger
        j = np.uint32(j + N_THREADS)
    most = block_max(own, maxima)
    share = ONE / block_sum(total * math.exp(own - most), sums)
    j = t
    while j < columns:
        at = np.uint32(row + j)
        y[at] = math.exp(x[at] - most) * share
        j = np.uint32(j + N_THREADS)


@cuda.jit(fastmath=True)
def softmax_3_on_chip(x, y, columns):
    """The row stays in shared memory. A thread uses only its own elements, without barriers."""
    kept = cuda.shared.array(LONGEST, np.float32)
    maxima = cuda.shared.array(MOST_WARPS, np.float32)
    sums = cuda.shared.array(MOST_WARPS, np.float32)
    t, row = np.uint32(cuda.threadIdx.x), np.uint32(np.uint32(cuda.blockIdx.x) * columns)
    most = LOWEST
    j = t
    while j < columns:
        value = x[np.uint32(row + j)]
        kept[j] = value
        most = max(most, value)
        j = np.uint32(j + N_THREADS)
    most = block_max(most, maxima)
    total = ZERO
    j = t
    while j < columns:
        value = math.exp(kept[j] - most)
        kept[j] = value
        total += value
        j = np.uint32(j + N_THREADS)
    share = ONE / block_sum(total, sums)
    j = t
    while j < columns:
        y[np.uint32(row + j)] = kept[j] * share
        j = np.uint32(j + N_THREADS)


@cuda.jit(device=True, fastmath=True)
def load_own(own, x, row, columns, first, apart):
    """Load quads of a row, ``apart`` elements from one to the next; return their maximum.

    Beyond the row's end, elements are the lowest number.
    """
    for k in range(OWN_QUADS):
        j = np.uint32(first + np.uint32(k) * apart)
        a, b, c, d = LOWEST, LOWEST, LOWEST, LOWEST
        if j < columns:
            a, b, c, d = load4(x, np.uint32(row + j))
        own[4 * k], own[4 * k + 1], own[4 * k + 2], own[4 * k + 3] = a, b, c, d
    most = own[0]
    for k in range(1, OWN):
        most = max(most, own[k])
    return most


@cuda.jit(device=True, fastmath=True)
def exponentials(own, most):
    """Replace each x by exp(x - most); return their sum."""
    total = ZERO
    for k in range(OWN):
        own[k] = math.exp(own[k] - most)
        total += own[k]
    return total


@cuda.jit(device=True, fastmath=True)
def store_own(own, share, y, row, columns, first, apart):
    for k in range(OWN_QUADS):
        j = np.uint32(first + np.uint32(k) * apart)
        if j < columns:
            store4(
                y,
                np.uint32(row + j),
                own[4 * k] * share,
                own[4 * k + 1] * share,
                own[4 * k + 2] * share,
                own[4 * k + 3] * share,
            )


@cuda.jit(fastmath=True, launch_bounds=(THREADS, 4))
def softmax_4_wide(x, y, columns):
    """The row stays in registers, 32 numbers per thread, with as many threads as that takes."""
    maxima = cuda.shared.array(MOST_WARPS, np.float32)
    sums = cuda.shared.array(MOST_WARPS, np.float32)
    own = cuda.local.array(OWN, np.float32)
    row = np.uint32(np.uint32(cuda.blockIdx.x) * columns)
    first, apart = (
        np.uint32(np.uint32(cuda.threadIdx.x) * QUAD),
        np.uint32(np.uint32(cuda.blockDim.x) * QUAD),
    )
    most = block_max(load_own(own, x, row, columns, first, apart), maxima)
    share = ONE / block_sum(exponentials(own, most), sums)
    store_own(own, share, y, row, columns, first, apart)


@cuda.jit(fastmath=True, launch_bounds=(THREADS, 4))
def softmax_5_warps(x, y, rows, columns):
    """A warp has a row, so no barrier is needed at all."""
    own = cuda.local.array(OWN, np.float32)
    t = np.uint32(cuda.threadIdx.x)
    number = np.uint32(np.uint32(cuda.blockIdx.x) * np.uint32(MOST_WARPS) + t // LANES)
    if number < rows:
        row, first, apart = np.uint32(number * columns), np.uint32(t % LANES * QUAD), LANES * QUAD
        most = warp_max(load_own(own, x, row, columns, first, apart))
        share = ONE / warp_sum(exponentials(own, most))
        store_own(own, share, y, row, columns, first, apart)


# All steps take x, its shape (rows, columns), and y. Both arrays have fewer than 2^32 elements.


def run_1_safe(x: Array, shape: tuple[int, int], y: Array) -> None:
    softmax_1_safe[shape[0], THREADS](x, y, np.uint32(shape[1]))


def run_2_online(x: Array, shape: tuple[int, int], y: Array) -> None:
    softmax_2_online[shape[0], THREADS](x, y, np.uint32(shape[1]))


def run_3_on_chip(x: Array, shape: tuple[int, int], y: Array) -> None:
    """Up to LONGEST columns."""
    softmax_3_on_chip[shape[0], THREADS](x, y, np.uint32(shape[1]))


def run_4_wide(x: Array, shape: tuple[int, int], y: Array) -> None:
    """A multiple of 4 columns, up to LONGEST."""
    warps = -(-shape[1] // LONGEST_OF_WARP)
    softmax_4_wide[shape[0], warps * WARP](x, y, np.uint32(shape[1]))


def run_5_warps(x: Array, shape: tuple[int, int], y: Array) -> None:
    """A multiple of 4 columns, up to LONGEST_OF_WARP."""
    rows, columns = shape
    softmax_5_warps[-(-rows // MOST_WARPS), THREADS](x, y, np.uint32(rows), np.uint32(columns))


TYPES = "float32[::1], float32[::1], uint32"
WIDE = ("LDG.E.128", "STG.E.128", "MUFU.EX2")
STEPS = (
    Step(
        "softmax_1_safe",
        "a pass for the maximum, one for the sum, one for the result",
        run_1_safe,
        (Built(softmax_1_safe, TYPES, THREADS, 8, ("MUFU.EX2", "SHFL")),),
    ),
    Step(
        "softmax_2_online",
        "maximum and sum in one pass",
        run_2_online,
        (Built(softmax_2_online, TYPES, THREADS, 8, ("MUFU.EX2",)),),
    ),
    Step(
        "softmax_3_on_chip",
        "the row is read once and stays in shared memory",
        run_3_on_chip,
        (Built(softmax_3_on_chip, TYPES, THREADS, 6, ("MUFU.EX2",)),),
    ),
    Step(
        "softmax_4_wide",
        "16 bytes an access, and the row stays in registers",
        run_4_wide,
        (Built(softmax_4_wide, TYPES, THREADS, 4, WIDE),),
    ),
    Step(
        "softmax_5_warps",
        "a warp has a row, without barriers",
        run_5_warps,
        (Built(softmax_5_warps, "float32[::1], float32[::1], uint32, uint32", THREADS, 4, WIDE),),
    ),
)
