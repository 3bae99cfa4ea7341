"""Step 8 with tiles copied directly from global to shared memory, two ahead of their product.

No register holds a tile in flight, and no instruction stores it, so A's tile has the layout of A,
row by row: a thread reads four depths of a row at a time. Its rows are every eighth of the warp's,
because with a pitch of 12 numbers the rows that 8 lanes read cover all banks once. Three tiles of
each matrix take turns. Sizes are multiples of 128; k, of 8.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.sgemm.warp_tiles import ACROSS, DEPTH, SIDE, TYPES
from warpwise.kernels.sgemm.wide_threads import COLUMNS, HALF_A, HALF_B, ROWS, SUMS, THREADS
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.tensor_core import cp_async16, cp_async_commit, cp_async_wait
from warpwise.kernels.wide import load4, store4

PITCH = DEPTH + 4  # from one row of A's tile to the next
APART = 8  # from one of a thread's rows of C to the next
TILE_A, TILE_B = SIDE * PITCH, DEPTH * SIDE
LAST_A, LAST_B = 2 * TILE_A, 2 * TILE_B  # offset of the third tile
THREE_A, THREE_B = 3 * TILE_A, 3 * TILE_B
QUAD = 4 * ROWS


@cuda.jit(device=True, forceinline=True)
def four_depths(of_a, tile_a, at_a):
    """Return four depths of each of a thread's rows."""
    for i in range(ROWS):
        of_a[4 * i], of_a[4 * i + 1], of_a[4 * i + 2], of_a[4 * i + 3] = load4(
            tile_a, at_a + np.uint32(i * APART * PITCH)
        )


@cuda.jit(device=True, forceinline=True)
def multiply(sums, of_a, depth, tile_b, at_b):
    """Add the product of a thread's 8 rows and 16 columns at one of four depths."""
    of_b = cuda.local.array(COLUMNS, np.float32)
    of_b[0], of_b[1], of_b[2], of_b[3] = load4(tile_b, at_b)
    of_b[4], of_b[5], of_b[6], of_b[7] = load4(tile_b, at_b + np.uint32(ACROSS))
    of_b[8], of_b[9], of_b[10], of_b[11] = load4(tile_b, at_b + np.uint32(2 * ACROSS))
    of_b[12], of_b[13], of_b[14], of_b[15] = load4(tile_b, at_b + np.uint32(3 * ACROSS))
    for i in range(ROWS):
        for j in range(COLUMNS):
            sums[i * COLUMNS + j] += of_a[4 * i + depth] * of_b[j]


@cuda.jit(launch_bounds=(THREADS, 2))
def sgemm_9_async(n, k, a, b, c):
    tile_a = cuda.shared.array(THREE_A, np.float32, alignment=16)  # [which][row][depth]
    tile_b = cuda.shared.array(THREE_B, np.float32, alignment=16)  # [which][depth][column]
    sums = cuda.local.array(SUMS, np.float32)
    of_a = cuda.local.array(QUAD, np.float32)
    t = np.uint32(cuda.threadIdx.x)
    lane, warp = t % np.uint32(32), t // np.uint32(32)
    first_row = np.uint32(np.uint32(cuda.blockIdx.y) * np.uint32(SIDE))
    first_col = np.uint32(np.uint32(cuda.blockIdx.x) * np.uint32(SIDE))
    own_row = np.uint32(warp // np.uint32(2) * np.uint32(64) + lane // np.uint32(2) % np.uint32(8))
    own_col = np.uint32(
        warp % np.uint32(2) * np.uint32(64)
        + (lane % np.uint32(2) + lane // np.uint32(16) * np.uint32(2)) * np.uint32(4)
    )
    row_a, col_a = t // np.uint32(2), np.uint32(t % np.uint32(2) * np.uint32(4))
    from_a = np.uint32((first_row + row_a) * k + col_a)
    from_b = np.uint32(warp * n + first_col + lane * np.uint32(4))
    below_a, below_b = np.uint32(np.uint32(HALF_A) * k), np.uint32(np.uint32(HALF_B) * n)
    to_a, to_b = (
        np.uint32(row_a * np.uint32(PITCH) + col_a),
        np.uint32(warp * np.uint32(SIDE) + lane * np.uint32(4)),
    )
    for i in range(SUMS):
        sums[i] = np.float32(0)
    left = np.uint32(k - np.uint32(DEPTH))  # of k, beyond the fetched tile
    for i in range(2):
        cp_async16(tile_a, np.uint32(to_a + np.uint32(i * TILE_A)), a, from_a)
        cp_async16(
            tile_a,
            np.uint32(to_a + np.uint32(i * TILE_A + HALF_A * PITCH)),
            a,
            np.uint32(from_a + below_a),
        )
        cp_async16(tile_b, np.uint32(to_b + np.uint32(i * TILE_B)), b, from_b)
        cp_async16(
            tile_b,
            np.uint32(to_b + np.uint32(i * TILE_B + HALF_B * SIDE)),
            b,
            np.uint32(from_b + below_b),
        )
        cp_async_commit()
        if left > np.uint32(0):
            left = np.uint32(left - np.uint32(DEPTH))
            from_a, from_b = (
                np.uint32(from_a + np.uint32(DEPTH)),
                np.uint32(from_b + np.uint32(DEPTH) * n),
            )
    in_a, in_b = np.uint32(0), np.uint32(0)  # offsets of the multiplied tiles
    next_a, next_b = np.uint32(LAST_A), np.uint32(LAST_B)  # and of the fetched ones
    to_do = k
    while to_do > np.uint32(0):
        to_do = np.uint32(to_do - np.uint32(DEPTH))
        cp_async_wait(1)
        cuda.syncthreads()
        cp_async16(tile_a, np.uint32(to_a + next_a), a, from_a)
        cp_async16(
            tile_a,
            np.uint32(to_a + next_a) + np.uint32(HALF_A * PITCH),
            a,
            np.uint32(from_a + below_a),
        )
        cp_async16(tile_b, np.uint32(to_b + next_b), b, from_b)
        cp_async16(
            tile_b,
            np.uint32(to_b + next_b) + np.uint32(HALF_B * SIDE),
            b,
            np.uint32(from_b + below_b),
        )
        cp_async_commit()
        if left > np.uint32(0):
            left = np.uint32(left - np.uint32(DEPTH))
            from_a, from_b = (
                np.uint32(from_a + np.uint32(DEPTH)),
                np.uint32(from_b + np.uint32(DEPTH) * n),
            )
        at_a, at_b = np.uint32(own_row * np.uint32(PITCH) + in_a), np.uint32(own_col + in_b)
        four_depths(of_a, tile_a, at_a)
        multiply(sums, of_a, 0, tile_b, at_b)
        multiply(sums, of_a, 1, tile_b, at_b + np.uint32(SIDE))
        multiply(sums, of_a, 2, tile_b, at_b + np.uint32(2 * SIDE))
        multiply(sums, of_a, 3, tile_b, at_b + np.uint32(3 * SIDE))
        four_depths(of_a, tile_a, at_a + np.uint32(4))
        multiply(sums, of_a, 0, tile_b, at_b + np.uint32(4 * SIDE))
        multiply(sums, of_a, 1, tile_b, at_b + np.uint32(5 * SIDE))
        multiply(sums, of_a, 2, tile_b, at_b + np.uint32(6 * SIDE))
        multiply(sums, of_a, 3, tile_b, at_b + np.uint32(7 * SIDE))
        next_a, next_b = in_a, in_b
        in_a = np.uint32(in_a + np.uint32(TILE_A)) if in_a < np.uint32(LAST_A) else np.uint32(0)
        in_b = np.uint32(in_b + np.uint32(TILE_B)) if in_b < np.uint32(LAST_B) else np.uint32(0)
    cp_async_wait(0)
    to = np.uint32((first_row + own_row) * n + first_col + own_col)
    for i in range(ROWS):
        down = np.uint32(to + np.uint32(i * APART) * n)
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


def run_9_async(m: int, n: int, k: int, a: Array, b: Array, c: Array) -> None:
    sgemm_9_async[(n // SIDE, m // SIDE), THREADS](np.uint32(n), np.uint32(k), a, b, c)


STEPS = (
    Step(
        "sgemm_9_async",
        "tiles copied to shared memory past the registers, two ahead",
        run_9_async,
        (
            Built(
                sgemm_9_async,
                TYPES,
                THREADS,
                2,
                opcodes=("LDGSTS.E.BYPASS.128", "LDS.128", "STG.E.128"),
                fma_share=0.9,
            ),
        ),
    ),
)
