"""Parts of several steps of ``hgemm``: the order of tiles, products of fragments, and stores."""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.bfloat16 import pack_bfloat16
from warpwise.kernels.step import Array
from warpwise.kernels.tensor_core import add_part, ldmatrix_x4, ldmatrix_x4_trans

# rows of tiles that blocks traverse together, so that their operands stay in the L2 cache
GROUP = 8
WORD, QUAD = np.uint32(2), np.uint32(4)  # numbers in a word of 4 bytes; words in a copy of 16
TYPES = "uint32[::1], uint32[::1], uint32[::1], uint32, uint32"


@cuda.jit(device=True, forceinline=True)
def tile_of_block(n, columns, rows):
    """Return the first row and column of this block's tile, of ``rows x columns``.

    Blocks go down GROUP rows of tiles, then one to the right.
    """
    across = n // np.uint32(columns)
    block = np.uint32(cuda.blockIdx.x)
    group = block // (across * np.uint32(GROUP))
    down = min(np.uint32(cuda.gridDim.x) // across - group * np.uint32(GROUP), np.uint32(GROUP))
    within = block - group * across * np.uint32(GROUP)
    return np.uint32((group * np.uint32(GROUP) + within % down) * np.uint32(rows)), np.uint32(
        within // down * np.uint32(columns)
    )


@cuda.jit(device=True, forceinline=True)
def keep(c, at, n_words, c0, c1, c2, c3):
    """Store a lane's four sums of a 16 x 8 tile."""
    c[at] = pack_bfloat16(c0, c1)
    c[at + np.uint32(8) * n_words] = pack_bfloat16(c2, c3)


@cuda.jit(device=True, forceinline=True)
def add_64_by_64(sums, a_tiles, a_at, a_pitch, b_tiles, b_at, chunk, flip):
    """Add the product of a warp's 64 x 16 part of a and its 16 x 64 part of b.

    ``a_at``: the lane's chunk of the first 16 rows of a. ``b_at``: the lane's row of b. ``chunk``:
    the row's first 16 bytes, before ``flip`` is applied.
    """
    part = cuda.local.array(16, np.uint32)
    for i in range(4):
        at = np.uint32(a_at + np.uint32(i * 16) * a_pitch)
        part[4 * i], part[4 * i + 1], part[4 * i + 2], part[4 * i + 3] = ldmatrix_x4(a_tiles, at)
    for j in range(4):
        b0, b1, b2, b3 = ldmatrix_x4_trans(
            b_tiles, np.uint32(b_at + ((chunk + np.uint32(2 * j)) ^ flip) * QUAD)
        )
        for i in range(4):
            add_part(sums, 32 * i + 8 * j, part, 4 * i, b0, b1)
            add_part(sums, 32 * i + 8 * j + 4, part, 4 * i, b2, b3)


@cuda.jit(device=True, forceinline=True)
def keep_64_by_64(c, at, n_words, sums):
    for i in range(4):
        for j in range(8):
            s = 32 * i + 4 * j
            here = np.uint32(at + np.uint32(i * 16) * n_words + np.uint32(j * 4))
            keep(c, here, n_words, sums[s], sums[s + 1], sums[s + 2], sums[s + 3])


def tiles(c: Array, n: int, rows: int, columns: int) -> int:
    """Return the number of tiles of c."""
    words: int = c.size  # of two numbers
    return 2 * words // n // rows * (n // columns)
