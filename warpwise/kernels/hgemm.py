"""The product of two matrices of bfloat16 on tensor cores, summed in float32: c = a b.

The matrices lie row by row in flat arrays of uint32, two neighbours of a row in each: ``a`` is m x k, ``b`` is k x n, ``c`` is m x n,
in bfloat16 too. ``tensor_core`` says which numbers a lane holds. Sizes are multiples of TILE, which suits every step.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.bfloat16 import pack_bfloat16
from warpwise.kernels.step import Built, Step
from warpwise.kernels.tensor_core import (
    add_product,
    column_pair,
    cp_async16,
    cp_async_commit,
    cp_async_wait,
    halves_of,
    ldmatrix_x4,
    ldmatrix_x4_trans,
    mma_bf16,
)
from warpwise.kernels.wide import load4, store4

TILE = (128, 256, 64)  # m, n, k
GROUP = 8  # rows of tiles that blocks go through together, so that what they read stays in the L2 cache
WORD, QUAD = np.uint32(2), np.uint32(4)  # numbers in a word of 4 bytes; words in a copy of 16


# --- 1: one warp, one tile ---


@cuda.jit
def hgemm_1_mma(a, b, c, n, k):
    """A warp makes 16 x 8 of c. Its fragments come from global memory, as they are."""
    g, q = np.uint32(cuda.laneid // 4), np.uint32(cuda.laneid % 4)
    k_words, n_words = k // WORD, n // WORD
    row, column = np.uint32(cuda.blockIdx.y * 16 + g), np.uint32(cuda.blockIdx.x * 8)
    a_at = np.uint32(row * k_words + q)
    b_at = np.uint32(WORD * q * n_words + (column + g) // WORD)
    halves = halves_of(column + g)
    c0 = c1 = c2 = c3 = np.float32(0)
    for _ in range(k // np.uint32(16)):
        a0, a1 = a[a_at], a[a_at + np.uint32(8) * k_words]
        a2, a3 = a[a_at + QUAD], a[a_at + np.uint32(8) * k_words + QUAD]
        b0 = column_pair(b, b_at, n_words, halves)
        b1 = column_pair(b, b_at + np.uint32(8) * n_words, n_words, halves)
        c0, c1, c2, c3 = mma_bf16(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)
        a_at += np.uint32(8)
        b_at += np.uint32(16) * n_words
    at = np.uint32(row * n_words + column // WORD + q)
    c[at] = pack_bfloat16(c0, c1)
    c[at + np.uint32(8) * n_words] = pack_bfloat16(c2, c3)


# --- 2: tiles in shared memory ---


@cuda.jit(device=True, forceinline=True)
def tile_of_block(n, columns, rows):
    """Where this block's tile begins, row and column, for tiles of ``rows x columns``: down GROUP rows of tiles, then one to the right."""
    across = n // np.uint32(columns)
    block = np.uint32(cuda.blockIdx.x)
    group = block // (across * np.uint32(GROUP))
    down = min(np.uint32(cuda.gridDim.x) // across - group * np.uint32(GROUP), np.uint32(GROUP))
    within = block - group * across * np.uint32(GROUP)
    return np.uint32((group * np.uint32(GROUP) + within % down) * np.uint32(rows)), np.uint32(within // down * np.uint32(columns))


@cuda.jit(device=True, forceinline=True)
def keep(c, at, n_words, c0, c1, c2, c3):
    """A lane's four sums of a 16 x 8 tile, into c."""
    c[at] = pack_bfloat16(c0, c1)
    c[at + np.uint32(8) * n_words] = pack_bfloat16(c2, c3)


A_PITCH, B_PITCH = 16 + 4, 64 + 4  # words from row to row: 16 bytes more than a row has, so that eight rows begin in different banks
A_WORDS, B_WORDS = 128 * A_PITCH, 32 * B_PITCH


@cuda.jit(launch_bounds=(256, 2))
def hgemm_2_shared(a, b, c, n, k):
    """A block of 8 warps makes 128 x 128 of c, a warp 64 x 32, 32 of k at a time."""
    a_tile = cuda.shared.array(A_WORDS, np.uint32, alignment=16)
    b_tile = cuda.shared.array(B_WORDS, np.uint32, alignment=16)
    sums = cuda.local.array(64, np.float32)
    part = cuda.local.array(16, np.uint32)
    for i in range(64):
        sums[i] = np.float32(0)
    thread, lane = np.uint32(cuda.threadIdx.x), np.uint32(cuda.laneid)
    warp = thread // np.uint32(32)
    top, left = tile_of_block(n, 128, 128)
    k_words, n_words = k // WORD, n // WORD
    a_from = np.uint32((top + thread // QUAD) * k_words + thread % QUAD * QUAD)
    a_to = np.uint32(thread // QUAD * np.uint32(A_PITCH) + thread % QUAD * QUAD)
    b_from = np.uint32(thread // np.uint32(16) * n_words + left // WORD + thread % np.uint32(16) * QUAD)
    b_to = np.uint32(thread // np.uint32(16) * np.uint32(B_PITCH) + thread % np.uint32(16) * QUAD)
    row, column = np.uint32(warp // QUAD * np.uint32(64)), np.uint32(warp % QUAD * np.uint32(32))
    half = lane // np.uint32(16) * QUAD
    a_at = np.uint32((row + lane % np.uint32(16)) * np.uint32(A_PITCH) + half)
    b_at = np.uint32(lane % np.uint32(16) * np.uint32(B_PITCH) + column // WORD + half)
    for _ in range(k // np.uint32(32)):
        w0, w1, w2, w3 = load4(a, a_from)
        x0, x1, x2, x3 = load4(a, a_from + np.uint32(64) * k_words)
        y0, y1, y2, y3 = load4(b, b_from)
        z0, z1, z2, z3 = load4(b, b_from + np.uint32(16) * n_words)
        cuda.syncthreads()
        store4(a_tile, a_to, w0, w1, w2, w3)
        store4(a_tile, a_to + np.uint32(64 * A_PITCH), x0, x1, x2, x3)
        store4(b_tile, b_to, y0, y1, y2, y3)
        store4(b_tile, b_to + np.uint32(16 * B_PITCH), z0, z1, z2, z3)
        cuda.syncthreads()
        a_from = np.uint32(a_from + np.uint32(16))
        b_from = np.uint32(b_from + np.uint32(32) * n_words)
        for deep in range(2):
            for i in range(4):
                at = a_at + np.uint32(i * 16 * A_PITCH + deep * 8)
                part[4 * i], part[4 * i + 1], part[4 * i + 2], part[4 * i + 3] = ldmatrix_x4(a_tile, at)
            for j in range(2):
                b0, b1, b2, b3 = ldmatrix_x4_trans(b_tile, b_at + np.uint32(deep * 16 * B_PITCH + j * 8))
                for i in range(4):
                    add_part(sums, 16 * i + 8 * j, part, 4 * i, b0, b1)
                    add_part(sums, 16 * i + 8 * j + 4, part, 4 * i, b2, b3)
    at = np.uint32((top + row + lane // QUAD) * n_words + (left + column) // WORD + lane % QUAD)
    for i in range(4):
        for j in range(4):
            s = 16 * i + 4 * j
            keep(c, at + np.uint32(i * 16) * n_words + np.uint32(j * 4), n_words, sums[s], sums[s + 1], sums[s + 2], sums[s + 3])


@cuda.jit(device=True, forceinline=True)
def add_part(sums, s, part, p, b0, b1):
    """The 16 x 16 of a whose fragment begins at ``part[p]``, times 16 x 8 of b."""
    add_product(sums, s, part[p], part[p + 1], part[p + 2], part[p + 3], b0, b1)


# --- 3: tiles that are on their way while others are used ---

A_STAGE_3, B_STAGE_3 = 128 * 16, 32 * 64  # words of a stage: no room for padding in three of them
A_WORDS_3, B_WORDS_3 = 3 * A_STAGE_3, 3 * B_STAGE_3


@cuda.jit(launch_bounds=(128, 2))
def hgemm_3_async(a, b, c, n, k):
    """A block of 4 warps makes 128 x 128 of c, a warp 64 x 64, 32 of k at a time; the next two tiles are being copied meanwhile.

    Chunks of 16 bytes are swizzled: within a row of a tile, chunk j lies where j ^ (a number of the row) would, and eight rows of a
    chunk lie in all banks.
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
    row, column = thread // np.uint32(64) * np.uint32(64), thread // np.uint32(32) % WORD * np.uint32(64)
    half, flip = lane // np.uint32(16), lane % np.uint32(8)
    a_at = np.uint32((row + lane % np.uint32(16)) * np.uint32(16))
    b_at = np.uint32(lane % np.uint32(16) * np.uint32(64))
    tiles = k // np.uint32(32)
    for t in range(2):
        if np.uint32(t) < tiles:
            fetch(a_tiles, np.uint32(a_to + t * A_STAGE_3), 32 * 16, a, np.uint32(a_from + t * 16), 32 * k_words, 4)
            fetch(b_tiles, np.uint32(b_to + t * B_STAGE_3), 8 * 64, b, np.uint32(b_from + np.uint32(t * 32) * n_words), 8 * n_words, 4)
        cp_async_commit()
    a_from = np.uint32(a_from + np.uint32(32))
    b_from = np.uint32(b_from + np.uint32(64) * n_words)
    stage, free = np.uint32(0), np.uint32(2)
    for t in range(tiles):
        cp_async_wait(1)
        cuda.syncthreads()
        if np.uint32(t) + np.uint32(2) < tiles:
            fetch(a_tiles, np.uint32(a_to + free * np.uint32(A_STAGE_3)), 32 * 16, a, a_from, 32 * k_words, 4)
            fetch(b_tiles, np.uint32(b_to + free * np.uint32(B_STAGE_3)), 8 * 64, b, b_from, 8 * n_words, 4)
        cp_async_commit()
        a_from = np.uint32(a_from + np.uint32(16))
        b_from = np.uint32(b_from + np.uint32(32) * n_words)
        a_now, b_now = np.uint32(a_at + stage * np.uint32(A_STAGE_3)), np.uint32(b_at + stage * np.uint32(B_STAGE_3))
        for deep in range(2):
            chunk = (np.uint32(2 * deep) + half) ^ (lane // WORD % QUAD)
            add_64_by_64(
                sums, a_tiles, np.uint32(a_now + chunk * QUAD), np.uint32(16), b_tiles, np.uint32(b_now + np.uint32(deep * 16 * 64)),
                np.uint32(column // np.uint32(8) + half), flip,
            )  # fmt: skip
        stage = np.uint32(0) if stage == np.uint32(2) else np.uint32(stage + np.uint32(1))
        free = np.uint32(0) if free == np.uint32(2) else np.uint32(free + np.uint32(1))
    keep_64_by_64(c, np.uint32((top + row + lane // QUAD) * n_words + (left + column) // WORD + lane % QUAD), n_words, sums)


@cuda.jit(device=True, forceinline=True)
def fetch(tiles, to, to_step, source, position, step, times):
    """Begin to copy a thread's chunks of a tile: ``times`` of them, ``to_step`` and ``step`` words apart."""
    for i in range(times):
        cp_async16(tiles, np.uint32(to + np.uint32(i) * np.uint32(to_step)), source, np.uint32(position + np.uint32(i) * np.uint32(step)))


@cuda.jit(device=True, forceinline=True)
def add_64_by_64(sums, a_tiles, a_at, a_pitch, b_tiles, b_at, chunk, flip):
    """A warp's 64 x 16 part of a times its 16 x 64 part of b. ``a_at``: the chunk that the lane gives of the first 16 rows of a.

    ``b_at``: the lane's row of b. ``chunk``: which 16 bytes of the row are the first, before ``flip`` is applied.
    """
    part = cuda.local.array(16, np.uint32)
    for i in range(4):
        at = np.uint32(a_at + np.uint32(i * 16) * a_pitch)
        part[4 * i], part[4 * i + 1], part[4 * i + 2], part[4 * i + 3] = ldmatrix_x4(a_tiles, at)
    for j in range(4):
        b0, b1, b2, b3 = ldmatrix_x4_trans(b_tiles, np.uint32(b_at + ((chunk + np.uint32(2 * j)) ^ flip) * QUAD))
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


# --- 4: a wider tile, and fragments ahead too ---

A_STAGE_4, B_STAGE_4 = 128 * 8, 16 * 128
A_WORDS_4, B_WORDS_4 = 4 * A_STAGE_4, 4 * B_STAGE_4


@cuda.jit(launch_bounds=(256, 1))
def hgemm_4_wide(a, b, c, n, k):
    """A block of 8 warps makes 128 x 256 of c, a warp 64 x 64, 16 of k at a time. ``k`` is a multiple of 64.

    Copies are up to four tiles ahead. Fragments are loaded a tile ahead, so that after a barrier there is work for the tensor cores at
    once. Which stage is which is known to the compiler, as four tiles are one trip of the loop.
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
    a_at = np.uint32((row + lane % np.uint32(16)) * np.uint32(8) + (half ^ (lane // QUAD % WORD)) * QUAD)
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
    keep_64_by_64(c, np.uint32((top + row + lane // QUAD) * n_words + (left + column) // WORD + lane % QUAD), n_words, sums)


@cuda.jit(device=True, forceinline=True)
def tile_4(u, more, places, sums, parts, a_tiles, a, a_from, b_tiles, b, b_from, n_words):
    """One tile of four: wait for the next one and load its fragments, begin to copy the one after four, multiply."""
    cp_async_wait(2)
    cuda.syncthreads()  # the next tile is there, and this one's stage is free: all have its fragments in registers
    load_fragments(parts, (u + 1) % 2 * 32, (u + 1) % 4, places, a_tiles, b_tiles)
    if more:
        fetch_4(u, places, a_tiles, a, a_from, b_tiles, b, b_from, n_words)
    cp_async_commit()
    for i in range(4):
        for j in range(8):
            p = u % 2 * 32
            add_part(sums, 32 * i + 4 * j, parts, p + 4 * i, parts[p + 16 + 2 * j], parts[p + 17 + 2 * j])


@cuda.jit(device=True, forceinline=True)
def fetch_4(u, places, a_tiles, a, a_from, b_tiles, b, b_from, n_words):
    """Begin to copy a thread's 16 bytes of a and twice 16 of b into stage ``u``."""
    a_to, b_to, _, _, _, _ = places
    cp_async16(a_tiles, np.uint32(a_to + np.uint32(u * A_STAGE_4)), a, np.uint32(a_from + np.uint32(u * 8)))
    for i in range(2):
        position = np.uint32(b_from + np.uint32(u * 16 + i * 8) * n_words)
        cp_async16(b_tiles, np.uint32(b_to + np.uint32(u * B_STAGE_4 + i * 8 * 128)), b, position)


@cuda.jit(device=True, forceinline=True)
def load_fragments(parts, p, u, places, a_tiles, b_tiles):
    """Of stage ``u``, 16 words of a and 16 of b, from ``parts[p]`` on."""
    _, _, a_at, b_at, chunk, flip = places
    for i in range(4):
        d = p + 4 * i
        at = np.uint32(a_at + np.uint32(u * A_STAGE_4 + i * 16 * 8))
        parts[d], parts[d + 1], parts[d + 2], parts[d + 3] = ldmatrix_x4(a_tiles, at)
    for j in range(4):
        d = p + 16 + 4 * j
        at = np.uint32(b_at + np.uint32(u * B_STAGE_4) + ((chunk + np.uint32(2 * j)) ^ flip) * QUAD)
        parts[d], parts[d + 1], parts[d + 2], parts[d + 3] = ldmatrix_x4_trans(b_tiles, at)


def tiles(c, n: int, rows: int, columns: int) -> int:
    """How many tiles c has."""
    return 2 * c.size // n // rows * (n // columns)


def run_1_mma(n: int, k: int, a, b, c) -> None:
    hgemm_1_mma[(n // 8, 2 * c.size // n // 16), 32](a, b, c, np.uint32(n), np.uint32(k))


def run_2_shared(n: int, k: int, a, b, c) -> None:
    hgemm_2_shared[tiles(c, n, 128, 128), 256](a, b, c, np.uint32(n), np.uint32(k))


def run_3_async(n: int, k: int, a, b, c) -> None:
    hgemm_3_async[tiles(c, n, 128, 128), 128](a, b, c, np.uint32(n), np.uint32(k))


def run_4_wide(n: int, k: int, a, b, c) -> None:
    hgemm_4_wide[tiles(c, n, 128, 256), 256](a, b, c, np.uint32(n), np.uint32(k))


TYPES = "uint32[::1], uint32[::1], uint32[::1], uint32, uint32"
STEPS = (
    Step(
        "hgemm_1_mma", "tensor cores, one warp for a tile", run_1_mma,
        (Built(hgemm_1_mma, TYPES, 32, 16, ("HMMA.16816.F32.BF16",)),),
    ),
    Step(
        "hgemm_2_shared", "tiles in shared memory, padded, and fragments by ldmatrix", run_2_shared,
        (Built(hgemm_2_shared, TYPES, 256, 2, ("HMMA.16816.F32.BF16", "LDSM.16.M88.4", "LDSM.16.MT88.4", "LDG.E.128", "STS.128"), 0.3),),
    ),
    Step(
        "hgemm_3_async", "copies run ahead by themselves, a warp makes 64 x 64, and chunks are swizzled", run_3_async,
        (Built(hgemm_3_async, TYPES, 128, 2, ("HMMA.16816.F32.BF16", "LDSM.16.M88.4", "LDSM.16.MT88.4", "LDGSTS.E.BYPASS.128"), 0.25),),
    ),
    Step(
        "hgemm_4_wide", "a block makes 128 x 256, and fragments are loaded a tile ahead", run_4_wide,
        (Built(hgemm_4_wide, TYPES, 256, 1, ("HMMA.16816.F32.BF16", "LDSM.16.M88.4", "LDSM.16.MT88.4", "LDGSTS.E.BYPASS"), 0.35),),
    ),
)  # fmt: skip
