"""The sum of an array: 4 bytes are read for each addition, and all threads meet in one number.

From step 2 on there are two launches: each block leaves a partial sum, and one block adds those up.
This gives the same order of additions in every run, which atomics do not guarantee. The size of
``partials`` is the number of blocks: a few for each SM.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.elementwise import high, low
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4

THREADS, WARP = 256, 32
WARPS = THREADS // WARP
AHEAD = 8  # loads in flight in a thread
QUADS_AHEAD = 4
LANES, EIGHT, FOUR = np.uint32(WARP), np.uint32(AHEAD), np.uint32(4)
ZERO = np.float32(0)


@cuda.jit
def clear(total):
    total[0] = ZERO


@cuda.jit
def sum_1_atomic(x, total, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        cuda.atomic.add(total, 0, x[i])


@cuda.jit
def sum_2_tree(x, partials, n):
    """Threads add up elements a grid apart, and then pairs: 128 sums, 64, 32, down to one."""
    sums = cuda.shared.array(THREADS, np.float32)
    t = np.uint32(cuda.threadIdx.x)
    i = np.uint32(cuda.grid(1))
    own = ZERO
    while i < n:
        own += x[i]
        i = np.uint32(i + np.uint32(cuda.gridsize(1)))
    sums[t] = own
    half = np.uint32(THREADS // 2)
    while half > np.uint32(0):
        cuda.syncthreads()
        if t < half:
            sums[t] += sums[np.uint32(t + half)]
        half = np.uint32(half // np.uint32(2))
    if t == np.uint32(0):
        partials[cuda.blockIdx.x] = sums[0]


@cuda.jit(device=True)
def warp_sum(own):
    """Return the sum of a warp's numbers, in its first lane."""
    for shift in (16, 8, 4, 2, 1):
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, shift)
    return own


@cuda.jit(device=True)
def leave_block_sum(own, sums, partials):
    """Store the sum of a block's numbers as an element of ``partials``.

    ``sums``: shared memory for a number per warp.
    """
    t = np.uint32(cuda.threadIdx.x)
    own = warp_sum(own)
    if t % LANES == np.uint32(0):
        sums[t // LANES] = own
    cuda.syncthreads()
    if t == np.uint32(0):
        whole = sums[0]
        for w in range(1, WARPS):
            whole += sums[w]
        partials[cuda.blockIdx.x] = whole


@cuda.jit
def sum_3_shuffle(x, partials, n):
    """The tree is in registers. Sums are float32 or float64, as ``partials`` are."""
    sums = cuda.shared.array(WARPS, partials.dtype)
    i = np.uint32(cuda.grid(1))
    own = partials.dtype.type(0)
    while i < n:
        own += x[i]
        i = np.uint32(i + np.uint32(cuda.gridsize(1)))
    leave_block_sum(own, sums, partials)


@cuda.jit
def sum_4_in_flight(x, partials, n):
    """Eight loads, then eight additions to eight sums, in float32 or float64 as ``partials``."""
    sums = cuda.shared.array(WARPS, partials.dtype)
    mine = cuda.local.array(AHEAD, partials.dtype)
    for k in range(AHEAD):
        mine[k] = 0
    step = np.uint32(cuda.gridsize(1))
    i = np.uint32(cuda.grid(1))
    while np.uint32(i + np.uint32(EIGHT - np.uint32(1)) * step) < n:
        for k in range(AHEAD):
            mine[k] += x[np.uint32(i + np.uint32(k) * step)]
        i = np.uint32(i + EIGHT * step)
    while i < n:
        mine[0] += x[i]
        i = np.uint32(i + step)
    own = mine[0]
    for k in range(1, AHEAD):
        own += mine[k]
    leave_block_sum(own, sums, partials)


@cuda.jit
def sum_5_wide(x, partials, quads):
    """Four loads of 16 bytes; ``quads`` is a quarter of the elements."""
    sums = cuda.shared.array(WARPS, np.float32)
    mine = cuda.local.array(QUADS_AHEAD, np.float32)
    for k in range(QUADS_AHEAD):
        mine[k] = ZERO
    step = np.uint32(cuda.gridsize(1))
    i = np.uint32(cuda.grid(1))
    while np.uint32(i + np.uint32(3) * step) < quads:
        for k in range(QUADS_AHEAD):
            a, b, c, d = load4(x, np.uint32(i + np.uint32(k) * step) * FOUR)
            mine[k] += (a + b) + (c + d)
        i = np.uint32(i + FOUR * step)
    while i < quads:
        a, b, c, d = load4(x, i * FOUR)
        mine[0] += (a + b) + (c + d)
        i = np.uint32(i + step)
    leave_block_sum((mine[0] + mine[1]) + (mine[2] + mine[3]), sums, partials)


@cuda.jit(device=True)
def pair_sum(word):
    return low(word) + high(word)


@cuda.jit
def sum_half_1_wide(x, partials, quads):
    """The same for float16 in pairs (see ``elementwise``), added up in float32.

    ``quads``: an eighth of the elements.
    """
    sums = cuda.shared.array(WARPS, np.float32)
    mine = cuda.local.array(QUADS_AHEAD, np.float32)
    for k in range(QUADS_AHEAD):
        mine[k] = ZERO
    step = np.uint32(cuda.gridsize(1))
    i = np.uint32(cuda.grid(1))
    while np.uint32(i + np.uint32(3) * step) < quads:
        for k in range(QUADS_AHEAD):
            a, b, c, d = load4(x, np.uint32(i + np.uint32(k) * step) * FOUR)
            mine[k] += (pair_sum(a) + pair_sum(b)) + (pair_sum(c) + pair_sum(d))
        i = np.uint32(i + FOUR * step)
    while i < quads:
        a, b, c, d = load4(x, i * FOUR)
        mine[0] += (pair_sum(a) + pair_sum(b)) + (pair_sum(c) + pair_sum(d))
        i = np.uint32(i + step)
    leave_block_sum((mine[0] + mine[1]) + (mine[2] + mine[3]), sums, partials)


@cuda.jit
def accumulate_1_float16(x, sums, n, terms):
    """A thread adds up ``terms`` float16, ``n`` apart, rounding each sum to float16.

    ``x``: int16, the bits of float16.
    """
    i = np.uint32(cuda.grid(1))
    if i < n:
        total = ZERO
        for k in range(terms):
            total += cuda.libdevice.half2float(x[np.uint32(np.uint32(k) * n + i)])
            total = cuda.libdevice.half2float(cuda.libdevice.float2half_rn(total))
        sums[i] = total


@cuda.jit
def accumulate_2_float32(x, sums, n, terms):
    """The same, with sums in float32."""
    i = np.uint32(cuda.grid(1))
    if i < n:
        total = ZERO
        for k in range(terms):
            total += cuda.libdevice.half2float(x[np.uint32(np.uint32(k) * n + i)])
        sums[i] = total


def run_1_atomic(x: Array, partials: Array, total: Array) -> None:
    clear[1, 1](total)
    sum_1_atomic[-(-x.size // THREADS), THREADS](x, total, np.uint32(x.size))


def run_2_tree(x: Array, partials: Array, total: Array) -> None:
    _two_launches(sum_2_tree, sum_2_tree, x, x.size, partials, total)


def run_3_shuffle(x: Array, partials: Array, total: Array) -> None:
    """``x``, ``partials`` and ``total``: float32 or float64."""
    _two_launches(sum_3_shuffle, sum_3_shuffle, x, x.size, partials, total)


def run_4_in_flight(x: Array, partials: Array, total: Array) -> None:
    """``x``, ``partials`` and ``total``: float32 or float64."""
    _two_launches(sum_4_in_flight, sum_3_shuffle, x, x.size, partials, total)


def run_5_wide(x: Array, partials: Array, total: Array) -> None:
    """``x.size``: a multiple of 4."""
    _two_launches(sum_5_wide, sum_3_shuffle, x, x.size // 4, partials, total)


def run_half_1_wide(x: Array, partials: Array, total: Array) -> None:
    """``x``: uint32, two float16 each; ``x.size`` is a multiple of 4."""
    _two_launches(sum_half_1_wide, sum_3_shuffle, x, x.size // 4, partials, total)


def _two_launches(
    kernel: Any, last: Any, x: Array, items: int, partials: Array, total: Array
) -> None:
    kernel[partials.size, THREADS](x, partials, np.uint32(items))
    last[1, THREADS](partials, total, np.uint32(partials.size))


def run_accumulate_1_float16(x: Array, sums: Array) -> None:
    """``x``: int16, rows of ``sums.size`` float16; each column is added up from top to bottom."""
    _accumulate(accumulate_1_float16, x, sums)


def run_accumulate_2_float32(x: Array, sums: Array) -> None:
    _accumulate(accumulate_2_float32, x, sums)


def _accumulate(kernel: Any, x: Array, sums: Array) -> None:
    kernel[-(-sums.size // THREADS), THREADS](
        x, sums, np.uint32(sums.size), np.uint32(x.size // sums.size)
    )


SINGLE, DOUBLE = "float32[::1], float32[::1], uint32", "float64[::1], float64[::1], uint32"
SHUFFLE = Built(sum_3_shuffle, SINGLE, THREADS, 8, ("SHFL.DOWN",))
COLUMNS = "int16[::1], float32[::1], uint32, uint32"
SUMS = (
    Step(
        "sum_1_atomic",
        "every element is added to one number in memory",
        run_1_atomic,
        (Built(clear, "float32[::1]", 1), Built(sum_1_atomic, SINGLE, THREADS, 8, ("RED",))),
    ),
    Step(
        "sum_2_tree",
        "threads add up elements, and blocks the threads' sums in shared memory",
        run_2_tree,
        (Built(sum_2_tree, SINGLE, THREADS, 8),),
    ),
    Step(
        "sum_3_shuffle",
        "lanes of a warp pass their sums through registers",
        run_3_shuffle,
        (SHUFFLE, Built(sum_3_shuffle, DOUBLE, THREADS, 8, ("SHFL.DOWN",))),
    ),
    Step(
        "sum_4_in_flight",
        "eight loads in flight in each thread, and eight sums",
        run_4_in_flight,
        (Built(sum_4_in_flight, SINGLE, THREADS, 6), Built(sum_4_in_flight, DOUBLE, THREADS, 5)),
    ),
    Step(
        "sum_5_wide",
        "four loads of 16 bytes in flight",
        run_5_wide,
        (Built(sum_5_wide, SINGLE, THREADS, 6, ("LDG.E.128",)),),
    ),
)
HALF = (
    Step(
        "sum_half_1_wide",
        "float16 in memory, float32 in registers",
        run_half_1_wide,
        (Built(sum_half_1_wide, "uint32[::1], float32[::1], uint32", THREADS, 5, ("LDG.E.128",)),),
    ),
)
ACCUMULATE = (
    Step(
        "accumulate_1_float16",
        "each sum is rounded to float16",
        run_accumulate_1_float16,
        (Built(accumulate_1_float16, COLUMNS, THREADS, 8),),
    ),
    Step(
        "accumulate_2_float32",
        "sums in float32",
        run_accumulate_2_float32,
        (Built(accumulate_2_float32, COLUMNS, THREADS, 8),),
    ),
)
STEPS = SUMS + HALF + ACCUMULATE
