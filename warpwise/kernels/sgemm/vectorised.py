"""Sixteen bytes at a time, from global memory to shared and from there to registers.

A's tile is transposed on its way into shared memory: so the 8 neighbours of a column that a thread
multiplies at a time are contiguous. Sizes are multiples of the tile's.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

# of a block's part of C; columns of A's tile; rows and columns of a thread's part
SIDE, DEPTH, OWN = 128, 8, 8
THREADS = 256
TILE = SIDE * DEPTH
SUMS = OWN * OWN


@cuda.jit(device=True, forceinline=True)
def multiply(sums, tile_a, at_a, tile_b, at_b):
    """Add the product of a thread's 8 rows and 8 columns at one depth."""
    of_a = cuda.local.array(OWN, np.float32)
    of_b = cuda.local.array(OWN, np.float32)
    of_a[0], of_a[1], of_a[2], of_a[3] = load4(tile_a, at_a)
    of_a[4], of_a[5], of_a[6], of_a[7] = load4(tile_a, at_a + np.uint32(4))
    of_b[0], of_b[1], of_b[2], of_b[3] = load4(tile_b, at_b)
    of_b[4], of_b[5], of_b[6], of_b[7] = load4(tile_b, at_b + np.uint32(4))
    for i in range(OWN):
        for j in range(OWN):
            sums[i * OWN + j] += of_a[i] * of_b[j]


@cuda.jit(launch_bounds=(THREADS, 2))
def sgemm_6_vectorised(n, k, a, b, c):
    tile_a = cuda.shared.array(TILE, np.float32, alignment=16)  # [depth][row]
    tile_b = cuda.shared.array(TILE, np.float32, alignment=16)  # [depth][column]
    sums = cuda.local.array(SUMS, np.float32)
    t = np.uint32(cuda.threadIdx.x)
    first_row = np.uint32(np.uint32(cuda.blockIdx.y) * np.uint32(SIDE))
    first_col = np.uint32(np.uint32(cuda.blockIdx.x) * np.uint32(SIDE))
    row_a, col_a = t // np.uint32(2), np.uint32(t % np.uint32(2) * np.uint32(4))
    row_b, col_b = t // np.uint32(32), np.uint32(t % np.uint32(32) * np.uint32(4))
    own_row, own_col = (
        np.uint32(t // np.uint32(16) * np.uint32(OWN)),
        np.uint32(t % np.uint32(16) * np.uint32(OWN)),
    )
    from_a = np.uint32((first_row + row_a) * k + col_a)
    from_b = np.uint32(row_b * n + first_col + col_b)
    to_a, to_b = (
        np.uint32(col_a * np.uint32(SIDE) + row_a),
        np.uint32(row_b * np.uint32(SIDE) + col_b),
    )
    for i in range(SUMS):
        sums[i] = np.float32(0)
    for _ in range(k // np.uint32(DEPTH)):
        a0, a1, a2, a3 = load4(a, from_a)
        b0, b1, b2, b3 = load4(b, from_b)
        from_a, from_b = (
            np.uint32(from_a + np.uint32(DEPTH)),
            np.uint32(from_b + np.uint32(DEPTH) * n),
        )
        tile_a[to_a], tile_a[to_a + np.uint32(SIDE)] = a0, a1
        tile_a[to_a + np.uint32(2 * SIDE)], tile_a[to_a + np.uint32(3 * SIDE)] = a2, a3
        store4(tile_b, to_b, b0, b1, b2, b3)
        cuda.syncthreads()
        multiply(sums, tile_a, own_row, tile_b, own_col)
        multiply(sums, tile_a, own_row + np.uint32(SIDE), tile_b, own_col + np.uint32(SIDE))
        multiply(sums, tile_a, own_row + np.uint32(2 * SIDE), tile_b, own_col + np.uint32(2 * SIDE))
        multiply(sums, tile_a, own_row + np.uint32(3 * SIDE), tile_b, own_col + np.uint32(3 * SIDE))
        multiply(sums, tile_a, own_row + np.uint32(4 * SIDE), tile_b, own_col + np.uint32(4 * SIDE))
        multiply(sums, tile_a, own_row + np.uint32(5 * SIDE), tile_b, own_col + np.uint32(5 * SIDE))
        multiply(sums, tile_a, own_row + np.uint32(6 * SIDE), tile_b, own_col + np.uint32(6 * SIDE))
        multiply(sums, tile_a, own_row + np.uint32(7 * SIDE), tile_b, own_col + np.uint32(7 * SIDE))
        cuda.syncthreads()
    to = np.uint32((first_row + own_row) * n + first_col + own_col)
    for i in range(OWN):
        store4(c, to, sums[i * OWN], sums[i * OWN + 1], sums[i * OWN + 2], sums[i * OWN + 3])
        store4(
            c,
            to + np.uint32(4),
            sums[i * OWN + 4],
            sums[i * OWN + 5],
            sums[i * OWN + 6],
            sums[i * OWN + 7],
        )
        to = np.uint32(to + n)


def run_6_vectorised(m: int, n: int, k: int, a: Array, b: Array, c: Array) -> None:
    sgemm_6_vectorised[(n // SIDE, m // SIDE), THREADS](np.uint32(n), np.uint32(k), a, b, c)


TYPES = "uint32, uint32, float32[::1], float32[::1], float32[::1]"
WIDE = ("LDG.E.128", "LDS.128", "STS.128", "STG.E.128")
STEPS = (
    Step(
        "sgemm_6_vectorised",
        "16 bytes in each load and store; A's tile transposed",
        run_6_vectorised,
        (Built(sgemm_6_vectorised, TYPES, THREADS, 2, opcodes=WIDE, fma_share=0.7),),
    ),
)
