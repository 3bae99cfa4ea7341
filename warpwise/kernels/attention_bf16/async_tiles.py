"""Step 3: copies run ahead, and a warp has 32 rows."""

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
from warpwise.kernels.tensor_core import (
    add_part,
    add_product,
    cp_async16,
    cp_async_commit,
    cp_async_wait,
    ldmatrix_x4,
    ldmatrix_x4_trans,
)

ROWS = 128  # of q, in a block of the largest step
STAGE = 64 * 32  # words of a tile of 64 keys
STAGES_WORDS = 3 * STAGE


@cuda.jit(launch_bounds=(128, 2))
def flash_bf16_3_async(q, k, v, out, n):
    """A block of 4 warps has 128 rows of q, a warp 32: a fragment of k or v serves two products.

    Tiles of 64 keys are copied two ahead. Row r's chunk j of 16 bytes is stored at j ^ (r % 8).
    """
    k_tiles = cuda.shared.array(STAGES_WORDS, np.uint32, alignment=16)
    v_tiles = cuda.shared.array(STAGES_WORDS, np.uint32, alignment=16)
    thread, lane = np.uint32(cuda.threadIdx.x), np.uint32(cuda.laneid)
    head = np.uint32(cuda.blockIdx.y) * n * PITCH
    row = (
        np.uint32(cuda.blockIdx.x) * np.uint32(128)
        + thread // np.uint32(32) * np.uint32(32)
        + lane // QUAD
    )
    at = np.uint32(head + row * PITCH + lane % QUAD)
    part = cuda.local.array(32, np.uint32)
    scores = cuda.local.array(64, np.float32)
    sums = cuda.local.array(64, np.float32)
    largest = cuda.local.array(4, np.float32)
    totals = cuda.local.array(4, np.float32)
    source = np.uint32(head + thread * QUAD)
    target = np.uint32(
        thread // np.uint32(8) * PITCH
        + (thread % np.uint32(8) ^ (thread // np.uint32(8) % np.uint32(8))) * QUAD
    )
    tiles = n // np.uint32(64)
    for t in range(2):
        ahead = np.uint32(t * STAGE)
        fetch(k, v, np.uint32(source + ahead), k_tiles, v_tiles, np.uint32(target + ahead))
        cp_async_commit()
    source = np.uint32(source + np.uint32(2 * STAGE))
    load_rows(part, 0, q, at)
    load_rows(part, 16, q, np.uint32(at + np.uint32(16) * PITCH))
    clear(sums, 64)
    clear(totals, 4)
    for r in range(4):
        largest[r] = NONE
    flip = lane % np.uint32(8)
    k_row = np.uint32((flip + lane // np.uint32(16) * np.uint32(8)) * PITCH)
    v_row = np.uint32(lane % np.uint32(16) * PITCH)
    k_chunk, v_chunk = lane // np.uint32(8) % np.uint32(2), lane // np.uint32(16)
    stage, free = np.uint32(0), np.uint32(2 * STAGE)
    for t in range(tiles):
        cp_async_wait(1)
        cuda.syncthreads()
        if np.uint32(t) + np.uint32(2) < tiles:
            fetch(k, v, source, k_tiles, v_tiles, np.uint32(target + free))
        cp_async_commit()
        source = np.uint32(source + np.uint32(STAGE))
        clear(scores, 64)
        for deep in range(4):
            chunk = ((k_chunk + np.uint32(2 * deep)) ^ flip) * QUAD
            for pair in range(4):
                b0, b1, b2, b3 = ldmatrix_x4(
                    k_tiles, np.uint32(k_row + chunk + stage + np.uint32(pair * 16 * 32))
                )
                for i in range(2):
                    add_part(scores, 32 * i + 8 * pair, part, 16 * i + 4 * deep, b0, b1)
                    add_part(scores, 32 * i + 8 * pair + 4, part, 16 * i + 4 * deep, b2, b3)
        soften_16_rows(scores, 0, 8, largest, totals, sums, 0)
        soften_16_rows(scores, 32, 8, largest, totals, sums, 2)
        for deep in range(4):
            v_at = np.uint32(v_row + stage + np.uint32(deep * 16 * 32))
            add_values(sums, scores, 8 * deep, v_tiles, v_at, v_chunk, flip)
        stage = (
            np.uint32(0) if stage == np.uint32(2 * STAGE) else np.uint32(stage + np.uint32(STAGE))
        )
        free = np.uint32(0) if free == np.uint32(2 * STAGE) else np.uint32(free + np.uint32(STAGE))
    keep_16_rows(out, at, sums, 0, totals, 0)
    keep_16_rows(out, np.uint32(at + np.uint32(16) * PITCH), sums, 32, totals, 2)


@cuda.jit(device=True, forceinline=True)
def add_values(sums, scores, s, v_tiles, at, v_chunk, flip):
    """Add the products of 16 keys' weights, of 32 rows, and their values."""
    a0, a1, a2, a3 = weights_of(scores, s)
    e0, e1, e2, e3 = weights_of(scores, s + 32)
    for pair in range(4):
        b0, b1, b2, b3 = ldmatrix_x4_trans(
            v_tiles, np.uint32(at + ((v_chunk + np.uint32(2 * pair)) ^ flip) * QUAD)
        )
        add_product(sums, 8 * pair, a0, a1, a2, a3, b0, b1)
        add_product(sums, 8 * pair + 4, a0, a1, a2, a3, b2, b3)
        add_product(sums, 32 + 8 * pair, e0, e1, e2, e3, b0, b1)
        add_product(sums, 32 + 8 * pair + 4, e0, e1, e2, e3, b2, b3)


@cuda.jit(device=True, forceinline=True)
def fetch(k, v, source, k_tiles, v_tiles, target):
    """Start copying a thread's part of 64 rows of k and v: 16 bytes of every 16th."""
    for i in range(4):
        to = np.uint32(target + np.uint32(i * 16 * 32))
        position = np.uint32(source + np.uint32(i * 16) * PITCH)
        cp_async16(k_tiles, to, k, position)
        cp_async16(v_tiles, to, v, position)


def run_3_async(n: int, q: Array, k: Array, v: Array, out: Array) -> None:
    flash_bf16_3_async[(n // ROWS, heads(n, q)), 128](q, k, v, out, np.uint32(n))


OPCODES = ("HMMA.16816.F32.BF16", "LDSM.16.M88.4", "LDSM.16.MT88.4", "LDGSTS.E.BYPASS")
STEPS = (
    Step(
        "flash_bf16_3_async",
        "copies run ahead, and each fragment from shared memory serves two products",
        run_3_async,
        (Built(flash_bf16_3_async, TYPES, 128, 2, OPCODES, 0.18),),
    ),
)
