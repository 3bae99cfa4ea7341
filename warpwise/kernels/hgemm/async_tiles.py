"""Step 3: the next tiles are copied while this one is multiplied."""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.hgemm.tiles import (
    QUAD,
    TYPES,
    WORD,
    add_64_by_64,
    keep_64_by_64,
    tile_of_block,
    tiles,
)
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.tensor_core import cp_async16, cp_async_commit, cp_async_wait

A_STAGE_3, B_STAGE_3 = 128 * 16, 32 * 64  # words of a stage: three leave no room for padding
A_WORDS_3, B_WORDS_3 = 3 * A_STAGE_3, 3 * B_STAGE_3


@cuda.jit(launch_bounds=(128, 2))
def hgemm_3_async(a, b, c, n, k):
    """A block of 4 warps makes 128 x 128 of c, a warp 64 x 64, 32 of k at a time.

    The next two tiles are copied meanwhile. Chunks of 16 bytes are swizzled: within a row of a
    tile, chunk j is stored at j ^ (a number of the row), so that the same chunk of eight rows is in
    all banks.
    """
    a_tiles = cuda.shared.array(A_WORDS_3, np.uint32, alignment=16)
    b_tiles = cuda.shared.array(B_WORDS_3, np.uint32, alignment=16)
    sums = cuda.local.array(128, np.float32)
    for i in range(128):
        sums[i] = np.float32(0)
    thread, lane = np.uint32(cuda.threadIdx.x), np.uint32(cuda.laneid)
    top, left = tile_of_block(n, 128, 128)
    k_words, n_words = k // WORD, n // WORD
    a_row, a_chunk = thread // QUAD, thread % QUAD
    b_row, b_chunk = thread // np.uint32(16), thread % np.uint32(16)
    a_from = np.uint32((top + a_row) * k_words + a_chunk * QUAD)
    b_from = np.uint32(b_row * n_words + left // WORD + b_chunk * QUAD)
    a_to = np.uint32(a_row * np.uint32(16) + (a_chunk ^ (a_row // WORD % QUAD)) * QUAD)
    b_to = np.uint32(b_row * np.uint32(64) + (b_chunk ^ b_row) * QUAD)
    row = thread // np.uint32(64) * np.uint32(64)
    column = thread // np.uint32(32) % WORD * np.uint32(64)
    half, flip = lane // np.uint32(16), lane % np.uint32(8)
    a_at = np.uint32((row + lane % np.uint32(16)) * np.uint32(16))
    b_at = np.uint32(lane % np.uint32(16) * np.uint32(64))
    tiles = k // np.uint32(32)
    for t in range(2):
        if np.uint32(t) < tiles:
            to, position = np.uint32(a_to + t * A_STAGE_3), np.uint32(a_from + t * 16)
            fetch(a_tiles, to, 32 * 16, a, position, 32 * k_words, 4)
            to = np.uint32(b_to + t * B_STAGE_3)
            position = np.uint32(b_from + np.uint32(t * 32) * n_words)
            fetch(b_tiles, to, 8 * 64, b, position, 8 * n_words, 4)
        cp_async_commit()
    a_from = np.uint32(a_from + np.uint32(32))
    b_from = np.uint32(b_from + np.uint32(64) * n_words)
    stage, free = np.uint32(0), np.uint32(2)
    for t in range(tiles):
        cp_async_wait(1)
        cuda.syncthreads()
        if np.uint32(t) + np.uint32(2) < tiles:
            to = np.uint32(a_to + free * np.uint32(A_STAGE_3))
            fetch(a_tiles, to, 32 * 16, a, a_from, 32 * k_words, 4)
            to = np.uint32(b_to + free * np.uint32(B_STAGE_3))
            fetch(b_tiles, to, 8 * 64, b, b_from, 8 * n_words, 4)
        cp_async_commit()
        a_from = np.uint32(a_from + np.uint32(16))
        b_from = np.uint32(b_from + np.uint32(32) * n_words)
        a_now = np.uint32(a_at + stage * np.uint32(A_STAGE_3))
        b_now = np.uint32(b_at + stage * np.uint32(B_STAGE_3))
        for deep in range(2):
            chunk = (np.uint32(2 * deep) + half) ^ (lane // WORD % QUAD)
            a_part = np.uint32(a_now + chunk * QUAD)
            b_part = np.uint32(b_now + np.uint32(deep * 16 * 64))
            first = np.uint32(column // np.uint32(8) + half)
            add_64_by_64(sums, a_tiles, a_part, np.uint32(16), b_tiles, b_part, first, flip)
        stage = np.uint32(0) if stage == np.uint32(2) else np.uint32(stage + np.uint32(1))
        free = np.uint32(0) if free == np.uint32(2) else np.uint32(free + np.uint32(1))
    at = np.uint32((top + row + lane // QUAD) * n_words + (left + column) // WORD + lane % QUAD)
    keep_64_by_64(c, at, n_words, sums)


@cuda.jit(device=True, forceinline=True)
def fetch(tiles, to, to_step, source, position, step, times):
    """Start copying a thread's ``times`` chunks of a tile, ``to_step`` and ``step`` words apart."""
    for i in range(times):
        target = np.uint32(to + np.uint32(i) * np.uint32(to_step))
        cp_async16(tiles, target, source, np.uint32(position + np.uint32(i) * np.uint32(step)))


def run_3_async(n: int, k: int, a: Array, b: Array, c: Array) -> None:
    hgemm_3_async[tiles(c, n, 128, 128), 128](a, b, c, np.uint32(n), np.uint32(k))


OPCODES = ("HMMA.16816.F32.BF16", "LDSM.16.M88.4", "LDSM.16.MT88.4", "LDGSTS.E.BYPASS.128")
STEPS = (
    Step(
        "hgemm_3_async",
        "asynchronous copies run ahead, a warp makes 64 x 64, and chunks are swizzled",
        run_3_async,
        (Built(hgemm_3_async, TYPES, 128, 2, OPCODES, 0.25),),
    ),
)
