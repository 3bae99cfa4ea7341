"""Step 2: tiles in shared memory, padded against bank conflicts."""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.hgemm.tiles import QUAD, TYPES, WORD, keep, tile_of_block, tiles
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.tensor_core import add_part, ldmatrix_x4, ldmatrix_x4_trans
from warpwise.kernels.wide import load4, store4

# words from row to row: 16 bytes more than a row, so that eight rows begin in different banks
A_PITCH, B_PITCH = 16 + 4, 64 + 4
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
    b_from = np.uint32(
        thread // np.uint32(16) * n_words + left // WORD + thread % np.uint32(16) * QUAD
    )
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
                p, at = 4 * i, a_at + np.uint32(i * 16 * A_PITCH + deep * 8)
                part[p], part[p + 1], part[p + 2], part[p + 3] = ldmatrix_x4(a_tile, at)
            for j in range(2):
                at = b_at + np.uint32(deep * 16 * B_PITCH + j * 8)
                b0, b1, b2, b3 = ldmatrix_x4_trans(b_tile, at)
                for i in range(4):
                    add_part(sums, 16 * i + 8 * j, part, 4 * i, b0, b1)
                    add_part(sums, 16 * i + 8 * j + 4, part, 4 * i, b2, b3)
    at = np.uint32((top + row + lane // QUAD) * n_words + (left + column) // WORD + lane % QUAD)
    for i in range(4):
        for j in range(4):
            s, here = 16 * i + 4 * j, at + np.uint32(i * 16) * n_words + np.uint32(j * 4)
            keep(c, here, n_words, sums[s], sums[s + 1], sums[s + 2], sums[s + 3])


def run_2_shared(n: int, k: int, a: Array, b: Array, c: Array) -> None:
    hgemm_2_shared[tiles(c, n, 128, 128), 256](a, b, c, np.uint32(n), np.uint32(k))


OPCODES = ("HMMA.16816.F32.BF16", "LDSM.16.M88.4", "LDSM.16.MT88.4", "LDG.E.128", "STS.128")
STEPS = (
    Step(
        "hgemm_2_shared",
        "tiles in shared memory, padded, and fragments by ldmatrix",
        run_2_shared,
        (Built(hgemm_2_shared, TYPES, 256, 2, OPCODES, 0.3),),
    ),
)
