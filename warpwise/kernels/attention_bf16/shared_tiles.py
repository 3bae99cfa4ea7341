"""Step 2: four warps read keys and values from shared memory."""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.attention_bf16.online_softmax import (
    NONE,
    PITCH,
    QUAD,
    TYPES,
    clear,
    heads,
    keep_16_rows,
    load_rows,
    soften_16_rows,
    weights_of,
)
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.tensor_core import add_part, add_product, ldmatrix_x4, ldmatrix_x4_trans
from warpwise.kernels.wide import load4, store4

PADDED = 32 + 4  # words from row to row of a tile: eight rows begin in different banks
TILE_WORDS_2 = 64 * PADDED


@cuda.jit(launch_bounds=(128, 3))
def flash_bf16_2_shared(q, k, v, out, n):
    """A block of 4 warps has 64 rows of q, a warp 16, and takes 64 keys at a time."""
    k_tile = cuda.shared.array(TILE_WORDS_2, np.uint32, alignment=16)
    v_tile = cuda.shared.array(TILE_WORDS_2, np.uint32, alignment=16)
    thread, lane = np.uint32(cuda.threadIdx.x), np.uint32(cuda.laneid)
    head = np.uint32(cuda.blockIdx.y) * n * PITCH
    row = (
        np.uint32(cuda.blockIdx.x) * np.uint32(64)
        + thread // np.uint32(32) * np.uint32(16)
        + lane // QUAD
    )
    at = np.uint32(head + row * PITCH + lane % QUAD)
    part = cuda.local.array(16, np.uint32)
    scores = cuda.local.array(32, np.float32)
    sums = cuda.local.array(32, np.float32)
    largest = cuda.local.array(2, np.float32)
    totals = cuda.local.array(2, np.float32)
    load_rows(part, 0, q, at)
    clear(sums, 32)
    clear(totals, 2)
    largest[0] = largest[1] = NONE
    source = np.uint32(head + thread * QUAD)
    target = np.uint32(thread // np.uint32(8) * np.uint32(PADDED) + thread % np.uint32(8) * QUAD)
    k_row = lane % np.uint32(8) + lane // np.uint32(16) * np.uint32(8)
    k_at = np.uint32(k_row * np.uint32(PADDED) + lane // np.uint32(8) % np.uint32(2) * QUAD)
    v_at = np.uint32(lane % np.uint32(16) * np.uint32(PADDED) + lane // np.uint32(16) * QUAD)
    for _ in range(n // np.uint32(64)):
        cuda.syncthreads()
        copy_tile(k, source, k_tile, target)
        copy_tile(v, source, v_tile, target)
        cuda.syncthreads()
        source = np.uint32(source + np.uint32(64) * PITCH)
        clear(scores, 32)
        for deep in range(4):
            for pair in range(4):
                here = k_at + np.uint32(pair * 16 * PADDED + deep * 8)
                b0, b1, b2, b3 = ldmatrix_x4(k_tile, here)
                add_part(scores, 8 * pair, part, 4 * deep, b0, b1)
                add_part(scores, 8 * pair + 4, part, 4 * deep, b2, b3)
        soften_16_rows(scores, 0, 8, largest, totals, sums, 0)
        for deep in range(4):
            a0, a1, a2, a3 = weights_of(scores, 8 * deep)
            for pair in range(4):
                here = v_at + np.uint32(deep * 16 * PADDED + pair * 8)
                b0, b1, b2, b3 = ldmatrix_x4_trans(v_tile, here)
                add_product(sums, 8 * pair, a0, a1, a2, a3, b0, b1)
                add_product(sums, 8 * pair + 4, a0, a1, a2, a3, b2, b3)
    keep_16_rows(out, at, sums, 0, totals, 0)


@cuda.jit(device=True, forceinline=True)
def copy_tile(source, position, tile, target):
    """Copy a thread's part of 64 rows: 16 bytes of every 16th."""
    for i in range(4):
        w0, w1, w2, w3 = load4(source, np.uint32(position + np.uint32(i * 16) * PITCH))
        store4(tile, np.uint32(target + np.uint32(i * 16 * PADDED)), w0, w1, w2, w3)


def run_2_shared(n: int, q: Array, k: Array, v: Array, out: Array) -> None:
    flash_bf16_2_shared[(n // 64, heads(n, q)), 128](q, k, v, out, np.uint32(n))


OPCODES = ("HMMA.16816.F32.BF16", "LDSM.16.M88.4", "LDSM.16.MT88.4", "STS.128")
STEPS = (
    Step(
        "flash_bf16_2_shared",
        "four warps share tiles of keys and values",
        run_2_shared,
        (Built(flash_bf16_2_shared, TYPES, 128, 3, OPCODES, 0.15),),
    ),
)
