"""Flash attention, forward, on tensor cores: bfloat16 in and out, sums and softmax in float32, no matrix of scores in memory.

``q``, ``k``, ``v`` and ``out`` are flat arrays of uint32, two neighbours in each: heads one after another, each of n rows of 64 numbers.
``n`` is a multiple of ROWS. Each lane keeps the scores that ``mma_bf16`` gives it (``tensor_core`` says which), and these are, rounded
and paired, just the fragment of A that the product with v takes: probabilities never leave the registers.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda
from warpwise.kernels.bfloat16 import pack_bfloat16
from warpwise.kernels.native import native, ptx
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
)
from warpwise.kernels.wide import load4, store4

WIDTH = 64  # numbers in a row of q, k and v
ROWS = 128  # of q, in a block of the largest step
ALL = 0xFFFFFFFF
SCALE = np.float32(math.log2(math.e) / math.sqrt(WIDTH))  # of scores, for powers of two
NONE = np.float32(-1e30)  # the largest score of no key: below every other, and finite
QUAD, PITCH = np.uint32(4), np.uint32(WIDTH // 2)  # words in a copy of 16 bytes; words from row to row


def _exp2(x):
    return cuda.libdevice.exp2f(x)


@native(_exp2)
def exp2_approximate(typingctx, x):
    """2 to the power of a float32, to about 22 bits, by the special-function unit."""
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        value = context.cast(builder, args[0], signature.args[0], types.float32)
        return ptx(builder, "ex2.approx.ftz.f32 $0, $1;", ir.FloatType(), "f", [("f", value)])

    return types.float32(x), generate


# --- what the steps share ---


@cuda.jit(device=True, forceinline=True)
def clear(sums, count):
    for i in range(count):
        sums[i] = np.float32(0)


@cuda.jit(device=True, forceinline=True)
def load_rows(part, p, source, at):
    """16 rows of q as four fragments, from ``part[p]`` on. ``at``: the lane's first word."""
    for j in range(4):
        here = np.uint32(at + np.uint32(8 * j))
        part[p + 4 * j] = source[here]
        part[p + 4 * j + 1] = source[here + np.uint32(8) * PITCH]
        part[p + 4 * j + 2] = source[here + QUAD]
        part[p + 4 * j + 3] = source[here + np.uint32(8) * PITCH + QUAD]


@cuda.jit(device=True, forceinline=True)
def soften(scores, first, pairs, largest):
    """One row's scores become powers; four lanes have a row together. ``largest``: the largest score before these.

    Returns the largest now, the factor for what was summed before, and the lane's sum of powers.
    """
    top = largest
    for j in range(pairs):
        top = cuda.libdevice.fmaxf(top, cuda.libdevice.fmaxf(scores[first + 4 * j], scores[first + 4 * j + 1]))
    top = cuda.libdevice.fmaxf(top, cuda.shfl_xor_sync(ALL, top, 1))
    top = cuda.libdevice.fmaxf(top, cuda.shfl_xor_sync(ALL, top, 2))
    shift = top * SCALE
    total = np.float32(0)
    for j in range(pairs):
        power0 = exp2_approximate(scores[first + 4 * j] * SCALE - shift)
        power1 = exp2_approximate(scores[first + 4 * j + 1] * SCALE - shift)
        scores[first + 4 * j] = power0
        scores[first + 4 * j + 1] = power1
        total += power0 + power1
    return top, exp2_approximate((largest - top) * SCALE), total  # the factor is 1, to the last bit, where nothing is larger


@cuda.jit(device=True, forceinline=True)
def rescale(sums, s, above, below):
    """16 rows of sums, times a factor for row g and one for the row eight on."""
    for j in range(8):
        sums[s + 4 * j] *= above
        sums[s + 4 * j + 1] *= above
        sums[s + 4 * j + 2] *= below
        sums[s + 4 * j + 3] *= below


@cuda.jit(device=True, forceinline=True)
def soften_16_rows(scores, s, pairs, largest, totals, sums, r):
    """Rows g and g + 8 of one 16-row part: ``largest[r:]`` and ``totals[r:]``, and what is summed of them from ``sums[16 r]`` on."""
    top0, factor0, total0 = soften(scores, s, pairs, largest[r])
    top1, factor1, total1 = soften(scores, s + 2, pairs, largest[r + 1])
    largest[r] = top0
    largest[r + 1] = top1
    totals[r] = totals[r] * factor0 + total0
    totals[r + 1] = totals[r + 1] * factor1 + total1
    rescale(sums, 16 * r, factor0, factor1)


@cuda.jit(device=True, forceinline=True)
def whole(total):
    """A row's sum, of four lanes' parts."""
    total += cuda.shfl_xor_sync(ALL, total, 1)
    total += cuda.shfl_xor_sync(ALL, total, 2)
    return total


@cuda.jit(device=True, forceinline=True)
def keep_16_rows(out, at, sums, s, totals, r):
    """Divide by the rows' sums, and store. ``at``: the lane's first word."""
    above, below = np.float32(1) / whole(totals[r]), np.float32(1) / whole(totals[r + 1])
    for j in range(8):
        here = np.uint32(at + np.uint32(4 * j))
        out[here] = pack_bfloat16(sums[s + 4 * j] * above, sums[s + 4 * j + 1] * above)
        out[here + np.uint32(8) * PITCH] = pack_bfloat16(sums[s + 4 * j + 2] * below, sums[s + 4 * j + 3] * below)


# --- 1: a warp by itself ---


@cuda.jit
def flash_bf16_1_mma(q, k, v, out, n):
    """A warp has 16 rows of q, and takes 16 keys at a time from global memory. ``blockIdx.y``: the head."""
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
                add_product(scores, 4 * half, part[4 * j], part[4 * j + 1], part[4 * j + 2], part[4 * j + 3], k[here], k[here + QUAD])
        soften_16_rows(scores, 0, 2, largest, totals, sums, 0)
        a0, a1 = pack_bfloat16(scores[0], scores[1]), pack_bfloat16(scores[2], scores[3])
        a2, a3 = pack_bfloat16(scores[4], scores[5]), pack_bfloat16(scores[6], scores[7])
        for j in range(8):
            here = np.uint32(v_at + np.uint32(4 * j))
            b0 = column_pair(v, here, PITCH, halves)
            b1 = column_pair(v, np.uint32(here + np.uint32(8) * PITCH), PITCH, halves)
            add_product(sums, 4 * j, a0, a1, a2, a3, b0, b1)
        k_at = np.uint32(k_at + np.uint32(16) * PITCH)
        v_at = np.uint32(v_at + np.uint32(16) * PITCH)
    keep_16_rows(out, at, sums, 0, totals, 0)


# --- 2: four warps read keys and values from shared memory ---

PADDED = 32 + 4  # words from row to row of a tile: eight rows begin in different banks
TILE_WORDS_2 = 64 * PADDED


@cuda.jit(launch_bounds=(128, 3))
def flash_bf16_2_shared(q, k, v, out, n):
    """A block of 4 warps has 64 rows of q, a warp 16, and takes 64 keys at a time."""
    k_tile = cuda.shared.array(TILE_WORDS_2, np.uint32, alignment=16)
    v_tile = cuda.shared.array(TILE_WORDS_2, np.uint32, alignment=16)
    thread, lane = np.uint32(cuda.threadIdx.x), np.uint32(cuda.laneid)
    head = np.uint32(cuda.blockIdx.y) * n * PITCH
    row = np.uint32(cuda.blockIdx.x) * np.uint32(64) + thread // np.uint32(32) * np.uint32(16) + lane // QUAD
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
                b0, b1, b2, b3 = ldmatrix_x4(k_tile, k_at + np.uint32(pair * 16 * PADDED + deep * 8))
                d = 4 * deep
                add_product(scores, 8 * pair, part[d], part[d + 1], part[d + 2], part[d + 3], b0, b1)
                add_product(scores, 8 * pair + 4, part[d], part[d + 1], part[d + 2], part[d + 3], b2, b3)
        soften_16_rows(scores, 0, 8, largest, totals, sums, 0)
        for deep in range(4):
            d = 8 * deep
            a0, a1 = pack_bfloat16(scores[d], scores[d + 1]), pack_bfloat16(scores[d + 2], scores[d + 3])
            a2, a3 = pack_bfloat16(scores[d + 4], scores[d + 5]), pack_bfloat16(scores[d + 6], scores[d + 7])
            for pair in range(4):
                b0, b1, b2, b3 = ldmatrix_x4_trans(v_tile, v_at + np.uint32(deep * 16 * PADDED + pair * 8))
                add_product(sums, 8 * pair, a0, a1, a2, a3, b0, b1)
                add_product(sums, 8 * pair + 4, a0, a1, a2, a3, b2, b3)
    keep_16_rows(out, at, sums, 0, totals, 0)


@cuda.jit(device=True, forceinline=True)
def copy_tile(source, position, tile, target):
    """A thread's part of 64 rows: 16 bytes of every 16th."""
    for i in range(4):
        w0, w1, w2, w3 = load4(source, np.uint32(position + np.uint32(i * 16) * PITCH))
        store4(tile, np.uint32(target + np.uint32(i * 16 * PADDED)), w0, w1, w2, w3)


# --- 3: copies run ahead, and a warp has 32 rows ---

STAGE = 64 * 32  # words of a tile of 64 keys
STAGES_WORDS = 3 * STAGE


@cuda.jit(launch_bounds=(128, 2))
def flash_bf16_3_async(q, k, v, out, n):
    """A block of 4 warps has 128 rows of q, a warp 32, so that a fragment of keys or values serves two products.

    Tiles of 64 keys are copied two ahead. Row r's chunk j of 16 bytes lies where j ^ (r % 8) would.
    """
    k_tiles = cuda.shared.array(STAGES_WORDS, np.uint32, alignment=16)
    v_tiles = cuda.shared.array(STAGES_WORDS, np.uint32, alignment=16)
    thread, lane = np.uint32(cuda.threadIdx.x), np.uint32(cuda.laneid)
    head = np.uint32(cuda.blockIdx.y) * n * PITCH
    row = np.uint32(cuda.blockIdx.x) * np.uint32(128) + thread // np.uint32(32) * np.uint32(32) + lane // QUAD
    at = np.uint32(head + row * PITCH + lane % QUAD)
    part = cuda.local.array(32, np.uint32)
    scores = cuda.local.array(64, np.float32)
    sums = cuda.local.array(64, np.float32)
    largest = cuda.local.array(4, np.float32)
    totals = cuda.local.array(4, np.float32)
    source = np.uint32(head + thread * QUAD)
    target = np.uint32(thread // np.uint32(8) * PITCH + (thread % np.uint32(8) ^ (thread // np.uint32(8) % np.uint32(8))) * QUAD)
    tiles = n // np.uint32(64)
    for t in range(2):
        fetch(k, v, np.uint32(source + np.uint32(t * STAGE)), k_tiles, v_tiles, np.uint32(target + np.uint32(t * STAGE)))
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
                b0, b1, b2, b3 = ldmatrix_x4(k_tiles, np.uint32(k_row + chunk + stage + np.uint32(pair * 16 * 32)))
                for i in range(2):
                    d = 16 * i + 4 * deep
                    add_product(scores, 32 * i + 8 * pair, part[d], part[d + 1], part[d + 2], part[d + 3], b0, b1)
                    add_product(scores, 32 * i + 8 * pair + 4, part[d], part[d + 1], part[d + 2], part[d + 3], b2, b3)
        soften_16_rows(scores, 0, 8, largest, totals, sums, 0)
        soften_16_rows(scores, 32, 8, largest, totals, sums, 2)
        for deep in range(4):
            add_values(sums, scores, 8 * deep, v_tiles, np.uint32(v_row + stage + np.uint32(deep * 16 * 32)), v_chunk, flip)
        stage = np.uint32(0) if stage == np.uint32(2 * STAGE) else np.uint32(stage + np.uint32(STAGE))
        free = np.uint32(0) if free == np.uint32(2 * STAGE) else np.uint32(free + np.uint32(STAGE))
    keep_16_rows(out, at, sums, 0, totals, 0)
    keep_16_rows(out, np.uint32(at + np.uint32(16) * PITCH), sums, 32, totals, 2)


@cuda.jit(device=True, forceinline=True)
def add_values(sums, scores, s, v_tiles, at, v_chunk, flip):
    """16 keys' probabilities, of 32 rows, times their values."""
    a0, a1 = pack_bfloat16(scores[s], scores[s + 1]), pack_bfloat16(scores[s + 2], scores[s + 3])
    a2, a3 = pack_bfloat16(scores[s + 4], scores[s + 5]), pack_bfloat16(scores[s + 6], scores[s + 7])
    e0, e1 = pack_bfloat16(scores[s + 32], scores[s + 33]), pack_bfloat16(scores[s + 34], scores[s + 35])
    e2, e3 = pack_bfloat16(scores[s + 36], scores[s + 37]), pack_bfloat16(scores[s + 38], scores[s + 39])
    for pair in range(4):
        b0, b1, b2, b3 = ldmatrix_x4_trans(v_tiles, np.uint32(at + ((v_chunk + np.uint32(2 * pair)) ^ flip) * QUAD))
        add_product(sums, 8 * pair, a0, a1, a2, a3, b0, b1)
        add_product(sums, 8 * pair + 4, a0, a1, a2, a3, b2, b3)
        add_product(sums, 32 + 8 * pair, e0, e1, e2, e3, b0, b1)
        add_product(sums, 32 + 8 * pair + 4, e0, e1, e2, e3, b2, b3)


@cuda.jit(device=True, forceinline=True)
def fetch(k, v, source, k_tiles, v_tiles, target):
    """Begin to copy a thread's part of 64 rows of k and v: 16 bytes of every 16th."""
    for i in range(4):
        cp_async16(k_tiles, np.uint32(target + np.uint32(i * 16 * 32)), k, np.uint32(source + np.uint32(i * 16) * PITCH))
        cp_async16(v_tiles, np.uint32(target + np.uint32(i * 16 * 32)), v, np.uint32(source + np.uint32(i * 16) * PITCH))


def run_1_mma(n: int, q, k, v, out) -> None:
    flash_bf16_1_mma[(n // 16, heads(n, q)), 32](q, k, v, out, np.uint32(n))


def run_2_shared(n: int, q, k, v, out) -> None:
    flash_bf16_2_shared[(n // 64, heads(n, q)), 128](q, k, v, out, np.uint32(n))


def run_3_async(n: int, q, k, v, out) -> None:
    flash_bf16_3_async[(n // ROWS, heads(n, q)), 128](q, k, v, out, np.uint32(n))


def heads(n: int, q) -> int:
    return 2 * q.size // (n * WIDTH)


TYPES = "uint32[::1], uint32[::1], uint32[::1], uint32[::1], uint32"
STEPS = (
    Step(
        "flash_bf16_1_mma", "both products on tensor cores, scores in registers", run_1_mma,
        (Built(flash_bf16_1_mma, TYPES, 32, 16, ("HMMA.16816.F32.BF16", "MUFU.EX2", "F2FP.BF16.F32.PACK_AB")),),
    ),
    Step(
        "flash_bf16_2_shared", "four warps share tiles of keys and values", run_2_shared,
        (Built(flash_bf16_2_shared, TYPES, 128, 3, ("HMMA.16816.F32.BF16", "LDSM.16.M88.4", "LDSM.16.MT88.4", "STS.128"), 0.15),),
    ),
    Step(
        "flash_bf16_3_async", "copies run ahead, and each fragment from shared memory serves two products", run_3_async,
        (Built(flash_bf16_3_async, TYPES, 128, 2, ("HMMA.16816.F32.BF16", "LDSM.16.M88.4", "LDSM.16.MT88.4", "LDGSTS.E.BYPASS"), 0.18),),
    ),
)  # fmt: skip
