"""Step 1: a warp by itself, with keys and values from global memory."""

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
from warpwise.kernels.tensor_core import add_part, add_product, column_pair, halves_of


@cuda.jit
def flash_bf16_1_mma(q, k, v, out, n):
    """A warp has 16 rows of q, and takes 16 keys at a time; ``blockIdx.y`` is the head."""
    g, p = np.uint32(cuda.laneid // 4), np.uint32(cuda.laneid % 4)
    head = np.uint32(cuda.blockIdx.y) * n * PITCH
    at = np.uint32(head + (np.uint32(cuda.blockIdx.x) * np.uint32(16) + g) * PITCH + p)
    part = cuda.local.array(16, np.uint32)
    scores = cuda.local.array(8, np.float32)
    sums = cuda.local.array(32, np.float32)
    largest = cuda.local.array(2, np.float32)
    totals = cuda.local.array(2, np.float32)
    load_rows(part, 0, q, at)
    clear(sums, 32)
    clear(totals, 2)
    largest[0] = largest[1] = NONE
    k_at = np.uint32(head + g * PITCH + p)
    v_at = np.uint32(head + np.uint32(2) * p * PITCH + g // np.uint32(2))
    halves = halves_of(g)
    for _ in range(n // np.uint32(16)):
        clear(scores, 8)
        for j in range(4):
            for half in range(2):
                here = np.uint32(k_at + np.uint32(half * 8) * PITCH + np.uint32(8 * j))
                add_part(scores, 4 * half, part, 4 * j, k[here], k[here + QUAD])
        soften_16_rows(scores, 0, 2, largest, totals, sums, 0)
        a0, a1, a2, a3 = weights_of(scores, 0)
        for j in range(8):
            here = np.uint32(v_at + np.uint32(4 * j))
            b0 = column_pair(v, here, PITCH, halves)
            b1 = column_pair(v, np.uint32(here + np.uint32(8) * PITCH), PITCH, halves)
            add_product(sums, 4 * j, a0, a1, a2, a3, b0, b1)
        k_at = np.uint32(k_at + np.uint32(16) * PITCH)
        v_at = np.uint32(v_at + np.uint32(16) * PITCH)
    keep_16_rows(out, at, sums, 0, totals, 0)


def run_1_mma(n: int, q: Array, k: Array, v: Array, out: Array) -> None:
    flash_bf16_1_mma[(n // 16, heads(n, q)), 32](q, k, v, out, np.uint32(n))


OPCODES = ("HMMA.16816.F32.BF16", "MUFU.EX2", "F2FP.BF16.F32.PACK_AB")
STEPS = (
    Step(
        "flash_bf16_1_mma",
        "both products on tensor cores, scores in registers",
        run_1_mma,
        (Built(flash_bf16_1_mma, TYPES, 32, 16, OPCODES),),
    ),
)
