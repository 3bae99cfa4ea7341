"""Tiles within tiles: each warp has a part of C, and the next tile is fetched meanwhile.

A read of 16 bytes by a warp serves 8 lanes at a time, and 16 if lanes n and n ^ 1, or n and n ^ 2,
read the same. So lanes are arranged 8 down and 4 across: neighbours 0 and 1, 2 and 3 ... share
rows, and 0 and 2, 1 and 3 ... share columns. A thread's elements of C are blocks of 4 x 4, because
neighbouring lanes then read neighbouring data. A's tile is padded by 4, so that transposing it
causes no bank conflicts.

There are two tiles of each matrix: one is multiplied while the next is in flight, first to
registers, then to the other tile. The last iteration fetches its own tile again, which nobody
reads: that is cheaper than a test.

Sizes are multiples of 128; k, of 8.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

SIDE, DEPTH = 128, 8  # of a block's part of C; columns of A's tile
PITCH = SIDE + 4  # from one depth of A's tile to the next
TILE_A, TILE_B = DEPTH * PITCH, DEPTH * SIDE
TWO_A, TWO_B = 2 * TILE_A, 2 * TILE_B
DOWN, ACROSS = 32, 16  # rows and columns from one of a thread's 4 x 4 blocks to the next
OWN = 8
SUMS = OWN * OWN
THREADS = 256  # warps have 64 x 32 elements of C: 2 warps down, 4 across


@cuda.jit(device=True, forceinline=True)
def turned(tile_a, at, a0, a1, a2, a3):
    """Store four neighbours of a row of A below each other."""
    tile_a[at] = a0
    tile_a[at + np.uint32(PITCH)] = a1
    tile_a[at + np.uint32(2 * PITCH)] = a2
    tile_a[at + np.uint32(3 * PITCH)] = a3


@cuda.jit(device=True, forceinline=True)
def multiply(sums, tile_a, at_a, tile_b, at_b):
    """Add the product of a thread's 8 rows and 8 columns at one depth."""
    of_a = cuda.local.array(OWN, np.float32)
    of_b = cuda.local.array(OWN, np.float32)
    of_a[0], of_a[1], of_a[2], of_a[3] = load4(tile_a, at_a)
    of_b[0], of_b[1], of_b[2], of_b[3] = load4(tile_b, at_b)
    of_b[4], of_b[5], of_b[6], of_b[7] = load4(tile_b, at_b + np.uint32(ACROSS))
    of_a[4], of_a[5], of_a[6], of_a[7] = load4(tile_a, at_a + np.uint32(DOWN))
    for i in range(OWN):
        for j in range(OWN):
            sums[i * OWN + j] += of_a[i] * of_b[j]


@cuda.jit(launch_bounds=(THREADS, 2))
def sgemm_7_warp_tile(n, k, a, b, c):
    tile_a = cuda.shared.array(TWO_A, np.float32, alignment=16)  # [which][depth][row]
    tile_b = cuda.shared.array(TWO_B, np.float32, alignment=16)  # [which][depth][column]
    sums = cuda.local.array(SUMS, np.float32)
    t = np.uint32(cuda.threadIdx.x)
    lane, warp = t % np.uint32(32), t // np.uint32(32)
    first_row = np.uint32(np.uint32(cuda.blockIdx.y) * np.uint32(SIDE))
    first_col = np.uint32(np.uint32(cuda.blockIdx.x) * np.uint32(SIDE))
    own_row = np.uint32(
        warp // np.uint32(4) * np.uint32(64) + lane // np.uint32(2) % np.uint32(8) * np.uint32(4)
    )
    own_col = np.uint32(
        warp % np.uint32(4) * np.uint32(32)
        + (lane % np.uint32(2) + lane // np.uint32(16) * np.uint32(2)) * np.uint32(4)
    )
    row_a, col_a = t // np.uint32(2), np.uint32(t % np.uint32(2) * np.uint32(4))
    from_a = np.uint32((first_row + row_a) * k + col_a)
    from_b = np.uint32(warp * n + first_col + lane * np.uint32(4))
    to_a, to_b = (
        np.uint32(col_a * np.uint32(PITCH) + row_a),
        np.uint32(warp * np.uint32(SIDE) + lane * np.uint32(4)),
    )
    for i in range(SUMS):
        sums[i] = np.float32(0)
    a0, a1, a2, a3 = load4(a, from_a)
    b0, b1, b2, b3 = load4(b, from_b)
    turned(tile_a, to_a, a0, a1, a2, a3)
    store4(tile_b, to_b, b0, b1, b2, b3)
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
        b0, b1, b2, b3 = load4(b, from_b)
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
        store4(tile_b, np.uint32(to_b + in_b), b0, b1, b2, b3)
        cuda.syncthreads()
    to = np.uint32((first_row + own_row) * n + first_col + own_col)
    for i in range(OWN):
        down = np.uint32(to + np.uint32(i // 4 * DOWN + i % 4) * n)
        store4(c, down, sums[i * OWN], sums[i * OWN + 1], sums[i * OWN + 2], sums[i * OWN + 3])
        store4(
            c,
            down + np.uint32(ACROSS),
            sums[i * OWN + 4],
            sums[i * OWN + 5],
            sums[i * OWN + 6],
            sums[i * OWN + 7],
        )


def run_7_warp_tile(m: int, n: int, k: int, a: Array, b: Array, c: Array) -> None:
    sgemm_7_warp_tile[(n // SIDE, m // SIDE), THREADS](np.uint32(n), np.uint32(k), a, b, c)


TYPES = "uint32, uint32, float32[::1], float32[::1], float32[::1]"
WIDE = ("LDG.E.128", "LDS.128", "STS.128", "STG.E.128")
STEPS = (
    Step(
        "sgemm_7_warp_tile",
        "a tile of 64 x 32 for each warp, and the next tiles fetched meanwhile",
        run_7_warp_tile,
        (Built(sgemm_7_warp_tile, TYPES, THREADS, 2, opcodes=WIDE, fma_share=0.85),),
    ),
)
