"""A thread per element of C: in the worst order, in the best one, and with shared tiles.

These steps take every size.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step

SIDE = 32  # of a block, and of a tile
TILE = SIDE * SIDE


@cuda.jit
def sgemm_1_naive(m, n, k, a, b, c):
    """A warp's threads take 32 rows of one column.

    Their loads of A are k elements apart, and their stores n.
    """
    x, y = cuda.grid(2)
    row, col = np.uint32(x), np.uint32(y)
    if row < m and col < n:
        total = np.float32(0)
        at_a, at_b = np.uint32(row * k), col
        for _ in range(k):
            total += a[at_a] * b[at_b]
            at_a, at_b = np.uint32(at_a + np.uint32(1)), np.uint32(at_b + n)
        c[np.uint32(row * n + col)] = total


@cuda.jit
def sgemm_2_coalesced(m, n, k, a, b, c):
    """The same but for the first lines: a warp's threads take 32 neighbours of one row.

    They share their loads of A.
    """
    x, y = cuda.grid(2)
    row, col = np.uint32(y), np.uint32(x)
    if row < m and col < n:
        total = np.float32(0)
        at_a, at_b = np.uint32(row * k), col
        for _ in range(k):
            total += a[at_a] * b[at_b]
            at_a, at_b = np.uint32(at_a + np.uint32(1)), np.uint32(at_b + n)
        c[np.uint32(row * n + col)] = total


@cuda.jit
def sgemm_3_shared(m, n, k, a, b, c):
    """A block loads each element of a tile once, and reads it 32 times from shared memory."""
    tile_a = cuda.shared.array(TILE, np.float32, alignment=16)
    tile_b = cuda.shared.array(TILE, np.float32, alignment=16)
    tx, ty = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    x, y = cuda.grid(2)
    row, col = np.uint32(y), np.uint32(x)
    tile_row = np.uint32(ty * np.uint32(SIDE))
    total = np.float32(0)
    for start in range(np.uint32(0), k, np.uint32(SIDE)):
        tile_a[tile_row + tx] = (
            a[np.uint32(row * k + start + tx)] if row < m and start + tx < k else np.float32(0)
        )
        tile_b[tile_row + tx] = (
            b[np.uint32((start + ty) * n + col)] if start + ty < k and col < n else np.float32(0)
        )
        cuda.syncthreads()
        for i in range(SIDE):
            total += tile_a[tile_row + np.uint32(i)] * tile_b[np.uint32(i * SIDE) + tx]
        cuda.syncthreads()
    if row < m and col < n:
        c[np.uint32(row * n + col)] = total


def run_1_naive(m: int, n: int, k: int, a: Array, b: Array, c: Array) -> None:
    sgemm_1_naive[(-(-m // SIDE), -(-n // SIDE)), (SIDE, SIDE)](
        np.uint32(m), np.uint32(n), np.uint32(k), a, b, c
    )


def run_2_coalesced(m: int, n: int, k: int, a: Array, b: Array, c: Array) -> None:
    sgemm_2_coalesced[(-(-n // SIDE), -(-m // SIDE)), (SIDE, SIDE)](
        np.uint32(m), np.uint32(n), np.uint32(k), a, b, c
    )


def run_3_shared(m: int, n: int, k: int, a: Array, b: Array, c: Array) -> None:
    sgemm_3_shared[(-(-n // SIDE), -(-m // SIDE)), (SIDE, SIDE)](
        np.uint32(m), np.uint32(n), np.uint32(k), a, b, c
    )


TYPES = "uint32, uint32, uint32, float32[::1], float32[::1], float32[::1]"
STEPS = (
    Step(
        "sgemm_1_naive",
        "a thread for each element of C, a warp down a column",
        run_1_naive,
        (Built(sgemm_1_naive, TYPES, TILE, 2),),
    ),
    Step(
        "sgemm_2_coalesced",
        "a warp along a row",
        run_2_coalesced,
        (Built(sgemm_2_coalesced, TYPES, TILE, 2),),
    ),
    Step(
        "sgemm_3_shared",
        "tiles of 32 x 32 in shared memory",
        run_3_shared,
        (Built(sgemm_3_shared, TYPES, TILE, 2),),
    ),
)
