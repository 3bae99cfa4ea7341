"""target[c, r] = source[r, c] of float32: each number is read once and written once.

A warp that reads along a row has numbers that belong in 32 rows of the target. Writing them at once
touches 32 sectors for 128 bytes; so a block first gathers a tile, and writes it along the rows of
the target.

Both matrices are flat, row by row. Tiles are laid out along the grid's x axis by columns of the
source, along y by rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

THREADS = 256
TILE = 32  # elements per side, of steps 1 to 3
LONGER = TILE + 1
AT_ONCE = THREADS // TILE  # rows of a tile that a block moves at once
WIDE_TILE = 64  # elements per side, of steps 4 and 5: 16 quads
QUADS = WIDE_TILE // 4
WIDE_SIZE = WIDE_TILE * WIDE_TILE
N_TILE, N_AT_ONCE, N_WIDE, N_QUADS, QUAD = (
    np.uint32(n) for n in (TILE, AT_ONCE, WIDE_TILE, QUADS, 4)
)


@cuda.jit
def transpose_1_naive(source, target, rows, columns):
    """A warp reads 32 neighbours in a row, and writes them into 32 rows."""
    t = np.uint32(cuda.threadIdx.x)
    column = np.uint32(cuda.blockIdx.x * N_TILE + t % N_TILE)
    for k in range(TILE // AT_ONCE):
        row = np.uint32(cuda.blockIdx.y * N_TILE + np.uint32(k) * N_AT_ONCE + t // N_TILE)
        if row < rows and column < columns:
            target[np.uint32(column * rows + row)] = source[np.uint32(row * columns + column)]


@cuda.jit(device=True)
def through(tile, source, target, rows, columns):
    """Read rows of the tile along the source's rows, and write its columns along the target's."""
    t = np.uint32(cuda.threadIdx.x)
    x, y = np.uint32(t % N_TILE), np.uint32(t // N_TILE)
    column = np.uint32(cuda.blockIdx.x * N_TILE + x)
    for k in range(TILE // AT_ONCE):
        line = np.uint32(np.uint32(k) * N_AT_ONCE + y)  # of the tile
        row = np.uint32(cuda.blockIdx.y * N_TILE + line)
        if row < rows and column < columns:
            tile[line, x] = source[np.uint32(row * columns + column)]
    cuda.syncthreads()
    row = np.uint32(cuda.blockIdx.y * N_TILE + x)
    for k in range(TILE // AT_ONCE):
        line = np.uint32(np.uint32(k) * N_AT_ONCE + y)
        column = np.uint32(cuda.blockIdx.x * N_TILE + line)
        if row < rows and column < columns:
            target[np.uint32(column * rows + row)] = tile[x, line]


@cuda.jit
def transpose_2_tiled(source, target, rows, columns):
    """A column of the tile is in one bank: its 32 elements are read one after another."""
    square = cuda.shared.array((TILE, TILE), np.float32)
    through(square, source, target, rows, columns)


@cuda.jit
def transpose_3_padded(source, target, rows, columns):
    """The tile's rows are one element longer, so a column of it is in 32 banks."""
    tile = cuda.shared.array((TILE, LONGER), np.float32)
    through(tile, source, target, rows, columns)


@cuda.jit
def transpose_4_wide(source, target, rows, columns):
    """A thread transposes four quads in registers, and stores them as quads of the target's rows.

    The tile's rows cannot be one element longer, or quads would not begin at multiples of 16 bytes.
    Instead the quad of rows 4q to 4q + 3 is stored at place q ^ p of tile row 4p + k: whichever of
    p and q runs over eight lanes, they meet eight different groups of four banks.
    """
    tile = cuda.shared.array(WIDE_SIZE, np.float32, alignment=16)
    t = np.uint32(cuda.threadIdx.x)
    p, q = t % N_QUADS, t // N_QUADS
    column = np.uint32(cuda.blockIdx.x * N_WIDE + p * QUAD)
    row = np.uint32(cuda.blockIdx.y * N_WIDE + q * QUAD)
    if row < rows and column < columns:
        at = np.uint32(row * columns + column)
        a0, a1, a2, a3 = load4(source, at)
        b0, b1, b2, b3 = load4(source, np.uint32(at + columns))
        c0, c1, c2, c3 = load4(source, np.uint32(at + columns + columns))
        d0, d1, d2, d3 = load4(source, np.uint32(at + columns + columns + columns))
        place = np.uint32(p * QUAD * N_WIDE + (q ^ p) * QUAD)
        store4(tile, place, a0, b0, c0, d0)
        store4(tile, np.uint32(place + N_WIDE), a1, b1, c1, d1)
        store4(tile, np.uint32(place + N_WIDE * np.uint32(2)), a2, b2, c2, d2)
        store4(tile, np.uint32(place + N_WIDE * np.uint32(3)), a3, b3, c3, d3)
    cuda.syncthreads()
    row = np.uint32(cuda.blockIdx.y * N_WIDE + p * QUAD)
    for k in range(WIDE_TILE // QUADS):
        line = np.uint32(np.uint32(k) * N_QUADS + q)  # of the tile
        column = np.uint32(cuda.blockIdx.x * N_WIDE + line)
        if row < rows and column < columns:
            a, b, c, d = load4(tile, np.uint32(line * N_WIDE + (p ^ (line // QUAD)) * QUAD))
            store4(target, np.uint32(column * rows + row), a, b, c, d)


@cuda.jit
def transpose_5_registers(source, target, rows, columns):
    """Without a tile: a warp reads half lines, 64 bytes of 32 rows, and writes whole ones.

    Those are 128 bytes of 16 rows.
    """
    t = np.uint32(cuda.threadIdx.x)
    warp, lane = t // np.uint32(32), t % np.uint32(32)
    column = np.uint32(
        cuda.blockIdx.x * N_WIDE + (warp % QUAD) * np.uint32(16) + (lane % QUAD) * QUAD
    )
    row = np.uint32(
        cuda.blockIdx.y * N_WIDE + (warp // QUAD) * np.uint32(32) + (lane // QUAD) * QUAD
    )
    if row < rows and column < columns:
        at = np.uint32(row * columns + column)
        a0, a1, a2, a3 = load4(source, at)
        b0, b1, b2, b3 = load4(source, np.uint32(at + columns))
        c0, c1, c2, c3 = load4(source, np.uint32(at + columns + columns))
        d0, d1, d2, d3 = load4(source, np.uint32(at + columns + columns + columns))
        to = np.uint32(column * rows + row)
        store4(target, to, a0, b0, c0, d0)
        store4(target, np.uint32(to + rows), a1, b1, c1, d1)
        store4(target, np.uint32(to + rows + rows), a2, b2, c2, d2)
        store4(target, np.uint32(to + rows + rows + rows), a3, b3, c3, d3)


# All steps take source and target, flat, with ``source_shape`` between them: rows and columns. Both
# have fewer than 2^32 elements.


def run_1_naive(source: Array, source_shape: tuple[int, int], target: Array) -> None:
    _launch(transpose_1_naive, TILE, source, source_shape, target)


def run_2_tiled(source: Array, source_shape: tuple[int, int], target: Array) -> None:
    _launch(transpose_2_tiled, TILE, source, source_shape, target)


def run_3_padded(source: Array, source_shape: tuple[int, int], target: Array) -> None:
    _launch(transpose_3_padded, TILE, source, source_shape, target)


def run_4_wide(source: Array, source_shape: tuple[int, int], target: Array) -> None:
    """Rows and columns: multiples of 4."""
    _launch(transpose_4_wide, WIDE_TILE, source, source_shape, target)


def run_5_registers(source: Array, source_shape: tuple[int, int], target: Array) -> None:
    """Rows and columns: multiples of 4."""
    _launch(transpose_5_registers, WIDE_TILE, source, source_shape, target)


def _launch(
    kernel: Any, tile: int, source: Array, source_shape: tuple[int, int], target: Array
) -> None:
    rows, columns = source_shape
    kernel[(-(-columns // tile), -(-rows // tile)), THREADS](
        source, target, np.uint32(rows), np.uint32(columns)
    )


TYPES = "float32[::1], float32[::1], uint32, uint32"
WIDE = ("LDG.E.128", "STG.E.128")
STEPS = (
    Step(
        "transpose_1_naive",
        "each thread moves its elements straight to their places",
        run_1_naive,
        (Built(transpose_1_naive, TYPES, THREADS, 8),),
    ),
    Step(
        "transpose_2_tiled",
        "a tile in shared memory, so that reads and writes both run along rows",
        run_2_tiled,
        (Built(transpose_2_tiled, TYPES, THREADS, 8),),
    ),
    Step(
        "transpose_3_padded",
        "one more column in the tile, against bank conflicts",
        run_3_padded,
        (Built(transpose_3_padded, TYPES, THREADS, 8),),
    ),
    Step(
        "transpose_4_wide",
        "16 bytes an access, and quads exchanged against bank conflicts",
        run_4_wide,
        (Built(transpose_4_wide, TYPES, THREADS, 6, (*WIDE, "STS.128", "LDS.128")),),
    ),
    Step(
        "transpose_5_registers",
        "four by four elements transposed in registers, and no tile",
        run_5_registers,
        (Built(transpose_5_registers, TYPES, THREADS, 6, WIDE),),
    ),
)
