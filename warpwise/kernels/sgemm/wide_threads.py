"""Step 7 with 8 x 16 elements of C per thread and half as many threads.

So 24 numbers read serve 128 products, where 16 served 64. A thread then needs more than 200
registers, so an SM has 8 warps in place of 16, and the parallelism that hides latency must be
within the thread. Sizes are multiples of 128; k, of 8.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.sgemm.warp_tiles import (
    ACROSS,
    DEPTH,
    DOWN,
    PITCH,
    SIDE,
    TILE_A,
    TILE_B,
    TWO_A,
    TWO_B,
    TYPES,
    WIDE,
    turned,
)
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

ROWS, COLUMNS = 8, 16  # of C, of one thread
SUMS = ROWS * COLUMNS
THREADS = 128  # warps have 64 x 64 elements of C: 2 warps down, 2 across
# a thread fetches 16 bytes of either half of each tile: rows of A, rows of B
HALF_A, HALF_B = SIDE // 2, DEPTH // 2


@cuda.jit(device=True, forceinline=True)
def multiply(sums, tile_a, at_a, tile_b, at_b):
    """Add the product of a thread's 8 rows and 16 columns at one depth."""
    of_a = cuda.local.array(ROWS, np.float32)
    of_b = cuda.local.array(COLUMNS, np.float32)
    of_a[0], of_a[1], of_a[2], of_a[3] = load4(tile_a, at_a)
    of_b[0], of_b[1], of_b[2], of_b[3] = load4(tile_b, at_b)
    of_b[4], of_b[5], of_b[6], of_b[7] = load4(tile_b, at_b + np.uint32(ACROSS))
    of_b[8], of_b[9], of_b[10], of_b[11] = load4(tile_b, at_b + np.uint32(2 * ACROSS))
    of_b[12], of_b[13], of_b[14], of_b[15] = load4(tile_b, at_b + np.uint32(3 * ACROSS))
    of_a[4], of_a[5], of_a[6], of_a[7] = load4(tile_a, at_a + np.uint32(DOWN))
    for i in range(ROWS):
        for j in range(COLUMNS):
            sums[i * COLUMNS + j] += of_a[i] * of_b[j]


@cuda.jit(launch_bounds=(THREADS, 2))
def sgemm_8_wide_thread(n, k, a, b, c):
    tile_a = cuda.shared.array(TWO_A, np.float32, alignment=16)  # [which][depth][row]
    tile_b = cuda.shared.array(TWO_B, np.float32, alignment=16)  # [which][depth][column]
    sums = cuda.local.array(SUMS, np.float32)
    t = np.uint32(cuda.threadIdx.x)
    lane, warp = t % np.uint32(32), t // np.uint32(32)
    first_row = np.uint32(np.uint32(cuda.blockIdx.y) * np.uint32(SIDE))
    first_col = np.uint32(np.uint32(cuda.blockIdx.x) * np.uint32(SIDE))
    own_row = np.uint32(
        warp // np.uint32(2) * np.uint32(64) + lane // np.uint32(2) % np.uint32(8) * np.uint32(4)
    )
    own_col = np.uint32(
        warp % np.uint32(2) * np.uint32(64)
        + (lane % np.uint32(2) + lane // np.uint32(16) * np.uint32(2)) * np.uint32(4)
    )
    row_a, col_a = t // np.uint32(2), np.uint32(t % np.uint32(2) * np.uint32(4))
    from_a = np.uint32((first_row + row_a) * k + col_a)
    from_b = np.uint32(warp * n + first_col + lane * np.uint32(4))
    below_a, below_b = np.uint32(np.uint32(HALF_A) * k), np.uint32(np.uint32(HALF_B) * n)
    to_a, to_b = (
        np.uint32(col_a * np.uint32(PITCH) + row_a),
        np.uint32(warp * np.uint32(SIDE) + lane * np.uint32(4)),
    )
    for i in range(SUMS):
        sums[i] = np.float32(0)
    a0, a1, a2, a3 = load4(a, from_a)
    a4, a5, a6, a7 = load4(a, np.uint32(from_a + below_a))
    b0, b1, b2, b3 = load4(b, from_b)
    b4, b5, b6, b7 = load4(b, np.uint32(from_b + below_b))
    turned(tile_a, to_a, a0, a1, a2, a3)
    turned(tile_a, to_a + np.uint32(HALF_A), a4, a5, a6, a7)
    store4(tile_b, to_b, b0, b1, b2, b3)
    store4(tile_b, to_b + np.uint32(HALF_B * SIDE), b4, b5, b6, b7)
    cuda.syncthreads()
    in_a, in_b = np.uint32(0), np.uint32(0)  # offsets of the multiplied tiles
    left = k
    while left > np.uint32(0):
        left = np.uint32(left - np.uint32(DEPTH))
        if left > np.uint32(0):
            from_a, from_b = (
                np.uint32(from_a + np.uint32(DEPTH)),
                np.uint32(from_b + np.uint32(DEPTH) * n),
            )
        a0, a1, a2, a3 = load4(a, from_a)
        a4, a5, a6, a7 = load4(a, np.uint32(from_a + below_a))
        b0, b1, b2, b3 = load4(b, from_b)
        b4, b5, b6, b7 = load4(b, np.uint32(from_b + below_b))
        at_a, at_b = np.uint32(own_row + in_a), np.uint32(own_col + in_b)
        multiply(sums, tile_a, at_a, tile_b, at_b)
        multiply(sums, tile_a, at_a + np.uint32(PITCH), tile_b, at_b + np.uint32(SIDE))
        multiply(sums, tile_a, at_a + np.uint32(2 * PITCH), tile_b, at_b + np.uint32(2 * SIDE))
        multiply(sums, tile_a, at_a + np.uint32(3 * PITCH), tile_b, at_b + np.uint32(3 * SIDE))
        multiply(sums, tile_a, at_a + np.uint32(4 * PITCH), tile_b, at_b + np.uint32(4 * SIDE))
        multiply(sums, tile_a, at_a + np.uint32(5 * PITCH), tile_b, at_b + np.uint32(5 * SIDE))
        multiply(sums, tile_a, at_a + np.uint32(6 * PITCH), tile_b, at_b + np.uint32(6 * SIDE))
        multiply(sums, tile_a, at_a + np.uint32(7 * PITCH), tile_b, at_b + np.uint32(7 * SIDE))
        in_a, in_b = np.uint32(np.uint32(TILE_A) - in_a), np.uint32(np.uint32(TILE_B) - in_b)
        turned(tile_a, np.uint32(to_a + in_a), a0, a1, a2, a3)
        turned(tile_a, np.uint32(to_a + in_a) + np.uint32(HALF_A), a4, a5, a6, a7)
        store4(tile_b, np.uint32(to_b + in_b), b0, b1, b2, b3)
        store4(tile_b, np.uint32(to_b + in_b) + np.uint32(HALF_B * SIDE), b4, b5, b6, b7)
        cuda.syncthreads()
    to = np.uint32((first_row + own_row) * n + first_col + own_col)
    for i in range(ROWS):
        down = np.uint32(to + np.uint32(i // 4 * DOWN + i % 4) * n)
        for j in range(0, COLUMNS, 4):
            at = i * COLUMNS + j
            store4(
                c,
                down + np.uint32(j // 4 * ACROSS),
                sums[at],
                sums[at + 1],
                sums[at + 2],
                sums[at + 3],
            )


def run_8_wide_thread(m: int, n: int, k: int, a: Array, b: Array, c: Array) -> None:
    sgemm_8_wide_thread[(n // SIDE, m // SIDE), THREADS](np.uint32(n), np.uint32(k), a, b, c)


STEPS = (
    Step(
        "sgemm_8_wide_thread",
        "8 x 16 elements of C for a thread, 64 x 64 for a warp",
        run_8_wide_thread,
        (Built(sgemm_8_wide_thread, TYPES, THREADS, 2, opcodes=WIDE, fma_share=0.9),),
    ),
)
