"""Step 4: a wider tile, and fragments loaded a tile ahead."""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.hgemm.tiles import QUAD, TYPES, WORD, keep_64_by_64, tile_of_block, tiles
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.tensor_core import (
    add_part,
    cp_async16,
    cp_async_commit,
    cp_async_wait,
    ldmatrix_x4,
    ldmatrix_x4_trans,
)

A_STAGE_4, B_STAGE_4 = 128 * 8, 16 * 128
A_WORDS_4, B_WORDS_4 = 4 * A_STAGE_4, 4 * B_STAGE_4


@cuda.jit(launch_bounds=(256, 1))
def hgemm_4_wide(a, b, c, n, k):
    """A block of 8 warps makes 128 x 256 of c, a warp 64 x 64, 16 of k at a time.

    ``k`` is a multiple of 64. Copies are up to four tiles ahead. Fragments are loaded a tile ahead,
    so that the tensor cores have work right after a barrier. The stages are constants for the
    compiler, because an iteration of the loop processes four tiles.
    """
    a_tiles = cuda.shared.array(A_WORDS_4, np.uint32, alignment=16)
    b_tiles = cuda.shared.array(B_WORDS_4, np.uint32, alignment=16)
    sums = cuda.local.array(128, np.float32)
    parts = cuda.local.array(64, np.uint32)
    for i in range(128):
        sums[i] = np.float32(0)
    thread, lane = np.uint32(cuda.threadIdx.x), np.uint32(cuda.laneid)
    warp = thread // np.uint32(32)
    top, left = tile_of_block(n, 256, 128)
    k_words, n_words = k // WORD, n // WORD
    a_row, a_chunk = thread // WORD, thread % WORD
    a_from = np.uint32((top + a_row) * k_words + a_chunk * QUAD)
    b_from = np.uint32(warp * n_words + left // WORD + lane * QUAD)
    a_to = np.uint32(a_row * np.uint32(8) + (a_chunk ^ (a_row // QUAD % WORD)) * QUAD)
    b_to = np.uint32(warp * np.uint32(128) + (lane ^ warp) * QUAD)
    row, column = warp // QUAD * np.uint32(64), warp % QUAD * np.uint32(64)
    half, flip = lane // np.uint32(16), lane % np.uint32(8)
    a_at = np.uint32(
        (row + lane % np.uint32(16)) * np.uint32(8) + (half ^ (lane // QUAD % WORD)) * QUAD
    )
    b_at = np.uint32(lane % np.uint32(16) * np.uint32(128))
    places = (a_to, b_to, a_at, b_at, np.uint32(column // np.uint32(8) + half), flip)
    for u in range(4):
        fetch_4(u, places, a_tiles, a, a_from, b_tiles, b, b_from, n_words)
        cp_async_commit()
    cp_async_wait(3)
    cuda.syncthreads()
    load_fragments(parts, 0, 0, places, a_tiles, b_tiles)
    trips = k // np.uint32(64)
    for trip in range(trips):
        a_from = np.uint32(a_from + np.uint32(32))
        b_from = np.uint32(b_from + np.uint32(64) * n_words)
        more = np.uint32(trip) + np.uint32(1) < trips
        tile_4(0, more, places, sums, parts, a_tiles, a, a_from, b_tiles, b, b_from, n_words)
        tile_4(1, more, places, sums, parts, a_tiles, a, a_from, b_tiles, b, b_from, n_words)
        tile_4(2, more, places, sums, parts, a_tiles, a, a_from, b_tiles, b, b_from, n_words)
        tile_4(3, more, places, sums, parts, a_tiles, a, a_from, b_tiles, b, b_from, n_words)
    at = np.uint32((top + row + lane // QUAD) * n_words + (left + column) // WORD + lane % QUAD)
    keep_64_by_64(c, at, n_words, sums)


@cuda.jit(device=True, forceinline=True)
def tile_4(u, more, places, sums, parts, a_tiles, a, a_from, b_tiles, b, b_from, n_words):
    """Process one of four tiles: load the next fragments, start the copy four ahead, multiply."""
    cp_async_wait(2)
    # the next tile is complete, and this one's stage is free: its fragments are in registers
    cuda.syncthreads()
    load_fragments(parts, (u + 1) % 2 * 32, (u + 1) % 4, places, a_tiles, b_tiles)
    if more:
        fetch_4(u, places, a_tiles, a, a_from, b_tiles, b, b_from, n_words)
    cp_async_commit()
    p = u % 2 * 32
    for i in range(4):
        for j in range(8):
            b0, b1 = parts[p + 16 + 2 * j], parts[p + 17 + 2 * j]
            add_part(sums, 32 * i + 4 * j, parts, p + 4 * i, b0, b1)


@cuda.jit(device=True, forceinline=True)
def fetch_4(u, places, a_tiles, a, a_from, b_tiles, b, b_from, n_words):
    """Start copying a thread's 16 bytes of a and twice 16 of b into stage ``u``."""
    a_to, b_to, _, _, _, _ = places
    to = np.uint32(a_to + np.uint32(u * A_STAGE_4))
    cp_async16(a_tiles, to, a, np.uint32(a_from + np.uint32(u * 8)))
    for i in range(2):
        position = np.uint32(b_from + np.uint32(u * 16 + i * 8) * n_words)
        cp_async16(b_tiles, np.uint32(b_to + np.uint32(u * B_STAGE_4 + i * 8 * 128)), b, position)


@cuda.jit(device=True, forceinline=True)
def load_fragments(parts, p, u, places, a_tiles, b_tiles):
    """Load 16 words of a and 16 of b from stage ``u`` into ``parts[p]`` and on."""
    _, _, a_at, b_at, chunk, flip = places
    for i in range(4):
        d = p + 4 * i
        at = np.uint32(a_at + np.uint32(u * A_STAGE_4 + i * 16 * 8))
        parts[d], parts[d + 1], parts[d + 2], parts[d + 3] = ldmatrix_x4(a_tiles, at)
    for j in range(4):
        d = p + 16 + 4 * j
        at = np.uint32(b_at + np.uint32(u * B_STAGE_4) + ((chunk + np.uint32(2 * j)) ^ flip) * QUAD)
        parts[d], parts[d + 1], parts[d + 2], parts[d + 3] = ldmatrix_x4_trans(b_tiles, at)


def run_4_wide(n: int, k: int, a: Array, b: Array, c: Array) -> None:
    hgemm_4_wide[tiles(c, n, 128, 256), 256](a, b, c, np.uint32(n), np.uint32(k))


OPCODES = ("HMMA.16816.F32.BF16", "LDSM.16.M88.4", "LDSM.16.MT88.4", "LDGSTS.E.BYPASS")
STEPS = (
    Step(
        "hgemm_4_wide",
        "a block makes 128 x 256, and fragments are loaded a tile ahead",
        run_4_wide,
        (Built(hgemm_4_wide, TYPES, 256, 1, OPCODES, 0.35),),
    ),
)
