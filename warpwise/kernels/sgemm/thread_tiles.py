"""A thread for several elements of C, so that a shared-memory read serves several products.

These steps take every size.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step

DEPTH = 8  # columns of A's tile, rows of B's
OWN = 8  # rows of C in a thread; in step 5, columns too
SIDE_4, THREADS_4 = 64, 512  # rows and columns of a block's part of C
SIDE_5, THREADS_5 = 128, 256
TILE_4, TILE_5 = SIDE_4 * DEPTH, SIDE_5 * DEPTH
OWN_5 = OWN * OWN
ACROSS = SIDE_5 // OWN  # threads side by side


@cuda.jit(launch_bounds=(THREADS_4, 2))
def sgemm_4_tile_1d(m, n, k, a, b, c):
    """A thread computes 8 elements of one column: an element of B's tile is read once for all."""
    tile_a = cuda.shared.array(TILE_4, np.float32, alignment=16)
    tile_b = cuda.shared.array(TILE_4, np.float32, alignment=16)
    sums = cuda.local.array(OWN, np.float32)
    t = np.uint32(cuda.threadIdx.x)
    first_row = np.uint32(np.uint32(cuda.blockIdx.y) * np.uint32(SIDE_4))
    first_col = np.uint32(np.uint32(cuda.blockIdx.x) * np.uint32(SIDE_4))
    row_a, col_a = np.uint32(first_row + t // np.uint32(DEPTH)), t % np.uint32(DEPTH)
    row_b, col = t // np.uint32(SIDE_4), np.uint32(first_col + t % np.uint32(SIDE_4))
    own_row = np.uint32(row_b * np.uint32(OWN))
    for i in range(OWN):
        sums[i] = np.float32(0)
    for start in range(np.uint32(0), k, np.uint32(DEPTH)):
        tile_a[t] = (
            a[np.uint32(row_a * k + start + col_a)]
            if row_a < m and start + col_a < k
            else np.float32(0)
        )
        tile_b[t] = (
            b[np.uint32((start + row_b) * n + col)]
            if start + row_b < k and col < n
            else np.float32(0)
        )
        cuda.syncthreads()
        for d in range(DEPTH):
            at_a = np.uint32(own_row * np.uint32(DEPTH) + np.uint32(d))
            of_b = tile_b[np.uint32(t % np.uint32(SIDE_4) + np.uint32(d * SIDE_4))]
            for i in range(OWN):
                sums[i] += tile_a[at_a + np.uint32(i * DEPTH)] * of_b
        cuda.syncthreads()
    for i in range(OWN):
        row = np.uint32(first_row + own_row + np.uint32(i))
        if row < m and col < n:
            c[np.uint32(row * n + col)] = sums[i]


@cuda.jit(launch_bounds=(THREADS_5, 2))
def sgemm_5_tile_2d(m, n, k, a, b, c):
    """A thread computes 8 x 8 elements: for 64 products it reads 16 numbers."""
    tile_a = cuda.shared.array(TILE_5, np.float32, alignment=16)
    tile_b = cuda.shared.array(TILE_5, np.float32, alignment=16)
    sums = cuda.local.array(OWN_5, np.float32)
    of_a = cuda.local.array(OWN, np.float32)
    of_b = cuda.local.array(OWN, np.float32)
    t = np.uint32(cuda.threadIdx.x)
    first_row = np.uint32(np.uint32(cuda.blockIdx.y) * np.uint32(SIDE_5))
    first_col = np.uint32(np.uint32(cuda.blockIdx.x) * np.uint32(SIDE_5))
    own_row = np.uint32(t // np.uint32(ACROSS) * np.uint32(OWN))
    own_col = np.uint32(t % np.uint32(ACROSS) * np.uint32(OWN))
    for i in range(OWN * OWN):
        sums[i] = np.float32(0)
    for start in range(np.uint32(0), k, np.uint32(DEPTH)):
        for part in range(TILE_5 // THREADS_5):
            at = np.uint32(t + np.uint32(part * THREADS_5))
            row, col = (
                np.uint32(first_row + at // np.uint32(DEPTH)),
                np.uint32(start + at % np.uint32(DEPTH)),
            )
            tile_a[at] = a[np.uint32(row * k + col)] if row < m and col < k else np.float32(0)
        for part in range(TILE_5 // THREADS_5):
            at = np.uint32(t + np.uint32(part * THREADS_5))
            row, col = (
                np.uint32(start + at // np.uint32(SIDE_5)),
                np.uint32(first_col + at % np.uint32(SIDE_5)),
            )
            tile_b[at] = b[np.uint32(row * n + col)] if row < k and col < n else np.float32(0)
        cuda.syncthreads()
        for d in range(DEPTH):
            at_a = np.uint32(own_row * np.uint32(DEPTH) + np.uint32(d))
            at_b = np.uint32(own_col + np.uint32(d * SIDE_5))
            for i in range(OWN):
                of_a[i] = tile_a[at_a + np.uint32(i * DEPTH)]
                of_b[i] = tile_b[at_b + np.uint32(i)]
            for i in range(OWN):
                for j in range(OWN):
                    sums[i * OWN + j] += of_a[i] * of_b[j]
        cuda.syncthreads()
    for i in range(OWN):
        row = np.uint32(first_row + own_row + np.uint32(i))
        for j in range(OWN):
            col = np.uint32(first_col + own_col + np.uint32(j))
            if row < m and col < n:
                c[np.uint32(row * n + col)] = sums[i * OWN + j]


def run_4_tile_1d(m: int, n: int, k: int, a: Array, b: Array, c: Array) -> None:
    sgemm_4_tile_1d[(-(-n // SIDE_4), -(-m // SIDE_4)), THREADS_4](
        np.uint32(m), np.uint32(n), np.uint32(k), a, b, c
    )


def run_5_tile_2d(m: int, n: int, k: int, a: Array, b: Array, c: Array) -> None:
    sgemm_5_tile_2d[(-(-n // SIDE_5), -(-m // SIDE_5)), THREADS_5](
        np.uint32(m), np.uint32(n), np.uint32(k), a, b, c
    )


TYPES = "uint32, uint32, uint32, float32[::1], float32[::1], float32[::1]"
STEPS = (
    Step(
        "sgemm_4_tile_1d",
        "8 elements of C for a thread",
        run_4_tile_1d,
        (Built(sgemm_4_tile_1d, TYPES, THREADS_4, 2),),
    ),
    Step(
        "sgemm_5_tile_2d",
        "8 x 8 elements of C for a thread",
        run_5_tile_2d,
        (Built(sgemm_5_tile_2d, TYPES, THREADS_5, 2),),
    ),
)
