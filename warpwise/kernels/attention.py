"""Attention in float32, forward: softmax(Q K^T / sqrt(64)) V for each head, from three kernels to tiles in registers.

``query``, ``key``, ``value``, ``out``: heads x n rows of 64 elements, flat and one after the other; n is a multiple of 64. ``lse``,
heads x n: for each query the logarithm of its sum of exponentials, which a backward pass needs. ``scores``, heads x n x n: the workspace
of the unfused step, and of no other.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda
from warpwise.kernels.attention_tiles import (
    LN2,
    LOWEST,
    SCALE2,
    add_scores,
    add_values,
    copy_rows,
    copy_values,
    finish,
    load_rows,
    load_values,
    store_weights,
    to_weights,
)
from warpwise.kernels.step import Built, Step
from warpwise.kernels.tensor_core import cp_async_commit, cp_async_wait
from warpwise.kernels.wide import load4, store4

ALL = 0xFFFFFFFF
D = 64  # elements of a row
SCALE = np.float32(1 / math.sqrt(D))

# --- 1: three kernels, and all scores in memory between them ---

SIDE = 32  # of a tile of results; a thread makes 2 x 2 of them


@cuda.jit
def attention_1_scores(query, key, scores, n):
    Qs = cuda.shared.array(32 * 65, "float32")  # rows of 64, and one more so that a column's elements lie in different banks
    Ks = cuda.shared.array(32 * 65, "float32")
    t = np.uint32(cuda.threadIdx.x)
    first_key, first_query = np.uint32(cuda.blockIdx.x) * np.uint32(32), np.uint32(cuda.blockIdx.y) * np.uint32(32)
    first_row = np.uint32(cuda.blockIdx.z) * n
    for part in range(8):
        row, column = (t >> np.uint32(6)) + np.uint32(4 * part), t & np.uint32(63)
        Qs[row * np.uint32(65) + column] = query[(first_row + first_query + row) * np.uint32(64) + column]
        Ks[row * np.uint32(65) + column] = key[(first_row + first_key + row) * np.uint32(64) + column]
    cuda.syncthreads()
    x, y = t & np.uint32(15), t >> np.uint32(4)
    q_at, k_at = y * np.uint32(65), x * np.uint32(65)
    s00 = s01 = s10 = s11 = np.float32(0)
    for _ in range(4):
        for k in range(16):
            q0, q1 = Qs[q_at + np.uint32(k)], Qs[q_at + np.uint32(k + 16 * 65)]
            k0, k1 = Ks[k_at + np.uint32(k)], Ks[k_at + np.uint32(k + 16 * 65)]
            s00 += q0 * k0
            s01 += q0 * k1
            s10 += q1 * k0
            s11 += q1 * k1
        q_at += np.uint32(16)
        k_at += np.uint32(16)
    at = (first_row + first_query + y) * n + first_key + x
    scores[at] = s00 * SCALE
    scores[at + np.uint32(16)] = s01 * SCALE
    at += np.uint32(16) * n
    scores[at] = s10 * SCALE
    scores[at + np.uint32(16)] = s11 * SCALE


@cuda.jit
def attention_1_softmax(scores, lse, n):
    """A warp a row, in place: a first pass finds the largest score and the sum of exponentials, a second one divides by it."""
    lane = np.uint32(cuda.threadIdx.x) & np.uint32(31)
    row = np.uint32(cuda.blockIdx.x) * np.uint32(8) + (np.uint32(cuda.threadIdx.x) >> np.uint32(5))
    first = row * n
    m, total = LOWEST, np.float32(0)
    for k in range(lane, n, 32):
        s = scores[first + np.uint32(k)]
        above = max(m, s)
        total = total * math.exp(m - above) + math.exp(s - above)
        m = above
    for step in range(5):
        other_m, other = cuda.shfl_xor_sync(ALL, m, 16 >> step), cuda.shfl_xor_sync(ALL, total, 16 >> step)
        above = max(m, other_m)
        total = total * math.exp(m - above) + other * math.exp(other_m - above)
        m = above
    for k in range(lane, n, 32):
        at = first + np.uint32(k)
        scores[at] = math.exp(scores[at] - m) / total
    if lane == 0:
        lse[row] = m + math.log(total)


@cuda.jit
def attention_1_output(scores, value, out, n):
    Ps = cuda.shared.array(32 * 33, "float32")
    Vs = cuda.shared.array(32 * 32, "float32")
    t = np.uint32(cuda.threadIdx.x)
    x, y, column = t & np.uint32(15), t >> np.uint32(4), t & np.uint32(31)
    first_column, first_query = np.uint32(cuda.blockIdx.x) * np.uint32(32), np.uint32(cuda.blockIdx.y) * np.uint32(32)
    first_row = np.uint32(cuda.blockIdx.z) * n
    o00 = o01 = o10 = o11 = np.float32(0)
    for start in range(0, n, 32):
        for k in range(4):
            row = (t >> np.uint32(5)) + np.uint32(8 * k)
            Ps[row * np.uint32(33) + column] = scores[(first_row + first_query + row) * n + np.uint32(start) + column]
            Vs[row * np.uint32(32) + column] = value[(first_row + np.uint32(start) + row) * np.uint32(64) + first_column + column]
        cuda.syncthreads()
        p_at, v_at = y * np.uint32(33), x
        for _ in range(2):
            for k in range(16):
                p0, p1 = Ps[p_at + np.uint32(k)], Ps[p_at + np.uint32(k + 16 * 33)]
                v0, v1 = Vs[v_at + np.uint32(32 * k)], Vs[v_at + np.uint32(32 * k + 16)]
                o00 += p0 * v0
                o01 += p0 * v1
                o10 += p1 * v0
                o11 += p1 * v1
            p_at += np.uint32(16)
            v_at += np.uint32(512)
        cuda.syncthreads()
    at = (first_row + first_query + y) * np.uint32(64) + first_column + x
    out[at] = o00
    out[at + np.uint32(16)] = o01
    out[at + np.uint32(1024)] = o10
    out[at + np.uint32(1040)] = o11


def run_1_unfused(n, query, key, value, scores, lse, out) -> None:
    heads = lse.size // n
    attention_1_scores[(n // SIDE, n // SIDE, heads), 256](query, key, scores, np.uint32(n))
    attention_1_softmax[heads * n // 8, 256](scores, lse, np.uint32(n))
    attention_1_output[(D // SIDE, n // SIDE, heads), 256](scores, value, out, np.uint32(n))


# --- 2: one kernel, its loops as the first FlashAttention paper writes them: keys outside, queries inside ---

ROWS = 128  # queries that a block of so many threads has at once


@cuda.jit
def attention_2_flash(query, key, value, lse, out, n):
    """A block a head, a thread a query. What a tile of keys adds to a query is merged into ``out`` and ``lse``, in memory."""
    Ks = cuda.shared.array(2048, "float32", alignment=16)
    Vs = cuda.shared.array(2048, "float32", alignment=16)
    sums = cuda.local.array(64, "float32")
    t, head = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockIdx.x) * n
    for start in range(0, n, 32):
        tile = (head + np.uint32(start)) * np.uint32(64) + t
        cuda.syncthreads()
        for k in range(16):
            Ks[t + np.uint32(128 * k)] = key[tile + np.uint32(128 * k)]
            Vs[t + np.uint32(128 * k)] = value[tile + np.uint32(128 * k)]
        cuda.syncthreads()
        for mine in range(t, n, 128):
            row = head + np.uint32(mine)
            at = row * np.uint32(64)
            m, total = LOWEST, np.float32(0)
            for k in range(64):
                sums[k] = np.float32(0)
            for c in range(0, 2048, 64):
                s = np.float32(0)
                for k in range(64):
                    s += query[at + np.uint32(k)] * Ks[np.uint32(c) + np.uint32(k)]
                s *= SCALE
                above = max(m, s)
                fix, p = math.exp(m - above), math.exp(s - above)
                total = total * fix + p
                for k in range(64):
                    sums[k] = sums[k] * fix + p * Vs[np.uint32(c) + np.uint32(k)]
                m = above
            before, added = lse[row] if start else LOWEST, m + math.log(total)
            above = max(before, added)
            after = above + math.log(math.exp(before - above) + math.exp(added - above))
            keep, take = math.exp(before - after), math.exp(m - after)
            for k in range(64):
                o = out[at + np.uint32(k)] if start else np.float32(0)
                out[at + np.uint32(k)] = o * keep + sums[k] * take
            lse[row] = after


def run_2_flash(n, query, key, value, lse, out) -> None:
    attention_2_flash[lse.size // n, ROWS](query, key, value, lse, out, np.uint32(n))


# --- 3: queries outside, keys inside, and a query's row in registers ---


@cuda.jit(fastmath=True, launch_bounds=ROWS)
def attention_3_rows(query, key, value, lse, out, n):
    """All threads of a warp read the same key, which costs no more than one does. Sums are corrected only where the maximum grows."""
    Ks = cuda.shared.array(2048, "float32", alignment=16)
    Vs = cuda.shared.array(2048, "float32", alignment=16)
    q = cuda.local.array(64, "float32")
    sums = cuda.local.array(64, "float32")
    t, head = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockIdx.y) * n
    mine = np.uint32(cuda.blockIdx.x) * np.uint32(128) + t
    row = head + min(mine, n - np.uint32(1))
    for k in range(0, 64, 4):
        q[k], q[k + 1], q[k + 2], q[k + 3] = load4(query, row * np.uint32(64) + np.uint32(k))
        sums[k] = sums[k + 1] = sums[k + 2] = sums[k + 3] = np.float32(0)
    m, total = LOWEST, np.float32(0)
    for start in range(0, n, 32):
        tile = (head + np.uint32(start)) * np.uint32(64)
        cuda.syncthreads()
        for k in range(4):
            i = (np.uint32(128 * k) + t) * np.uint32(4)
            a, b, c, d = load4(key, tile + i)
            store4(Ks, i, a, b, c, d)
            a, b, c, d = load4(value, tile + i)
            store4(Vs, i, a, b, c, d)
        cuda.syncthreads()
        for at in range(0, 2048, 64):
            s0 = s1 = s2 = s3 = np.float32(0)
            for k in range(0, 64, 4):
                a, b, c, d = load4(Ks, np.uint32(at) + np.uint32(k))
                s0 += q[k] * a
                s1 += q[k + 1] * b
                s2 += q[k + 2] * c
                s3 += q[k + 3] * d
            s = (s0 + s1) + (s2 + s3)
            if s > m:
                fix = math.exp2((m - s) * SCALE2)
                m = s
                total *= fix
                for k in range(64):
                    sums[k] *= fix
            p = math.exp2((s - m) * SCALE2)
            total += p
            for k in range(0, 64, 4):
                a, b, c, d = load4(Vs, np.uint32(at) + np.uint32(k))
                sums[k] += p * a
                sums[k + 1] += p * b
                sums[k + 2] += p * c
                sums[k + 3] += p * d
    if mine < n:
        f = np.float32(1) / total
        for k in range(0, 64, 4):
            store4(out, row * np.uint32(64) + np.uint32(k), sums[k] * f, sums[k + 1] * f, sums[k + 2] * f, sums[k + 3] * f)
        lse[row] = (m * SCALE2 + math.log2(total)) * LN2


def run_3_rows(n, query, key, value, lse, out) -> None:
    attention_3_rows[(-(-n // ROWS), lse.size // n), ROWS](query, key, value, lse, out, np.uint32(n))


# --- 4: 8 x 8 results a thread; 5: and copies that run by themselves ---

TILE = 64  # queries, and keys, that a block has at once
PAIR = 64  # threads


@cuda.jit(fastmath=True, launch_bounds=(64, 4))
def attention_4_tiled(query, key, value, lse, out, n):
    Qs = cuda.shared.array(4096, "float32", alignment=16)
    Ks = cuda.shared.array(4096, "float32", alignment=16)
    Vs = cuda.shared.array(4096, "float32", alignment=16)
    s = cuda.local.array(64, "float32")
    sums = cuda.local.array(64, "float32")
    a = cuda.local.array(32, "float32")
    m = cuda.local.array(8, "float32")
    total = cuda.local.array(8, "float32")
    t, head = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockIdx.y) * n
    first = head + np.uint32(cuda.blockIdx.x) * np.uint32(64)
    r = np.uint32((t & np.uint32(32)) + ((t >> np.uint32(3)) & np.uint32(2)) + (t & np.uint32(1)))
    c = np.uint32((t >> np.uint32(1)) & np.uint32(7))
    load_rows(Qs, query, first * np.uint32(64), t)
    for i in range(64):
        sums[i] = np.float32(0)
    for i in range(8):
        m[i], total[i] = LOWEST, np.float32(0)
    for start in range(0, n, 64):
        tile = (head + np.uint32(start)) * np.uint32(64)
        load_rows(Ks, key, tile, t)
        load_values(Vs, value, tile, t)
        cuda.syncthreads()
        for i in range(64):
            s[i] = np.float32(0)
        add_scores(s, Qs, Ks, a, r, c)
        to_weights(s, sums, m, total)
        cuda.syncthreads()
        store_weights(Ks, s, r, c)
        cuda.syncwarp()
        add_values(sums, Ks, Vs, a, r, c)
        cuda.syncthreads()
    finish(out, lse, first, sums, m, total, r, c)


def run_4_tiled(n, query, key, value, lse, out) -> None:
    attention_4_tiled[(n // TILE, lse.size // n), PAIR](query, key, value, lse, out, np.uint32(n))


@cuda.jit(fastmath=True, launch_bounds=(64, 4))
def attention_5_async(query, key, value, lse, out, n):
    """As before, but tiles go to shared memory by themselves: the values arrive while scores are computed."""
    Qs = cuda.shared.array(4096, "float32", alignment=16)
    Ks = cuda.shared.array(4096, "float32", alignment=16)
    Vs = cuda.shared.array(4096, "float32", alignment=16)
    s = cuda.local.array(64, "float32")
    sums = cuda.local.array(64, "float32")
    a = cuda.local.array(32, "float32")
    m = cuda.local.array(8, "float32")
    total = cuda.local.array(8, "float32")
    t, head = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockIdx.y) * n
    first = head + np.uint32(cuda.blockIdx.x) * np.uint32(64)
    r = np.uint32((t & np.uint32(32)) + ((t >> np.uint32(3)) & np.uint32(2)) + (t & np.uint32(1)))
    c = np.uint32((t >> np.uint32(1)) & np.uint32(7))
    copy_rows(Qs, query, first * np.uint32(64), t)
    for i in range(64):
        sums[i] = np.float32(0)
    for i in range(8):
        m[i], total[i] = LOWEST, np.float32(0)
    for start in range(0, n, 64):
        tile = (head + np.uint32(start)) * np.uint32(64)
        copy_rows(Ks, key, tile, t)
        cp_async_commit()
        copy_values(Vs, value, tile, t)
        cp_async_commit()
        for i in range(64):
            s[i] = np.float32(0)
        cp_async_wait(1)
        cuda.syncthreads()
        add_scores(s, Qs, Ks, a, r, c)
        to_weights(s, sums, m, total)
        cp_async_wait(0)
        cuda.syncthreads()
        store_weights(Ks, s, r, c)
        cuda.syncwarp()
        add_values(sums, Ks, Vs, a, r, c)
        cuda.syncthreads()
    finish(out, lse, first, sums, m, total, r, c)


def run_5_async(n, query, key, value, lse, out) -> None:
    attention_5_async[(n // TILE, lse.size // n), PAIR](query, key, value, lse, out, np.uint32(n))


FLASH_TYPES = "float32[::1], float32[::1], float32[::1], float32[::1], float32[::1], uint32"
UNFUSED = (
    Step(
        "attention_1_unfused", "three kernels, and all scores in memory between them", run_1_unfused,
        (
            Built(attention_1_scores, "float32[::1], float32[::1], float32[::1], uint32", 256, 6),
            Built(attention_1_softmax, "float32[::1], float32[::1], uint32", 256, 8),
            Built(attention_1_output, "float32[::1], float32[::1], float32[::1], uint32", 256, 6),
        ),
    ),
)  # fmt: skip
FLASH = (
    Step("attention_2_flash", "one kernel, and no score leaves the chip; what is known so far does", run_2_flash,
         (Built(attention_2_flash, FLASH_TYPES, ROWS, 3),)),
    Step("attention_3_rows", "a thread's query and sums in registers", run_3_rows,
         (Built(attention_3_rows, FLASH_TYPES, ROWS, 3, opcodes=("LDS.128",), fma_share=0.5),)),
    Step("attention_4_tiled", "8 x 8 scores and 8 x 8 sums a thread", run_4_tiled,
         (Built(attention_4_tiled, FLASH_TYPES, PAIR, 4, opcodes=("LDS.128", "STS.128"), fma_share=0.85),)),
    Step("attention_5_async", "values arrive while scores are computed", run_5_async,
         (Built(attention_5_async, FLASH_TYPES, PAIR, 4, opcodes=("LDS.128", "LDGSTS.E.BYPASS.128"), fma_share=0.85),)),
)  # fmt: skip
STEPS = (*UNFUSED, *FLASH)
