"""Step 1: three kernels, with all scores in memory between them."""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda
from warpwise.kernels.attention.constants import LOWEST, SCALE, D
from warpwise.kernels.step import Array, Built, Step

ALL = 0xFFFFFFFF
SIDE = 32  # of a tile of results; a thread makes 2 x 2 of them


@cuda.jit
def attention_1_scores(query, key, scores, n):
    # rows of 64, and one more so that a column's elements are in different banks
    Qs = cuda.shared.array(32 * 65, "float32")
    Ks = cuda.shared.array(32 * 65, "float32")
    t = np.uint32(cuda.threadIdx.x)
    first_key = np.uint32(cuda.blockIdx.x) * np.uint32(32)
    first_query = np.uint32(cuda.blockIdx.y) * np.uint32(32)
    first_row = np.uint32(cuda.blockIdx.z) * n
    for part in range(8):
        row, column = (t >> np.uint32(6)) + np.uint32(4 * part), t & np.uint32(63)
        to = row * np.uint32(65) + column
        Qs[to] = query[(first_row + first_query + row) * np.uint32(64) + column]
        Ks[to] = key[(first_row + first_key + row) * np.uint32(64) + column]
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
    """A warp per row, in place: one pass for maximum and sum, a second one divides."""
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
        other_m = cuda.shfl_xor_sync(ALL, m, 16 >> step)
        other = cuda.shfl_xor_sync(ALL, total, 16 >> step)
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
    first_column = np.uint32(cuda.blockIdx.x) * np.uint32(32)
    first_query = np.uint32(cuda.blockIdx.y) * np.uint32(32)
    first_row = np.uint32(cuda.blockIdx.z) * n
    o00 = o01 = o10 = o11 = np.float32(0)
    for start in range(0, n, 32):
        for k in range(4):
            row = (t >> np.uint32(5)) + np.uint32(8 * k)
            p_from = (first_row + first_query + row) * n + np.uint32(start) + column
            v_from = (first_row + np.uint32(start) + row) * np.uint32(64) + first_column + column
            Ps[row * np.uint32(33) + column] = scores[p_from]
            Vs[row * np.uint32(32) + column] = value[v_from]
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


def run_1_unfused(
    n: int, query: Array, key: Array, value: Array, scores: Array, lse: Array, out: Array
) -> None:
    heads = lse.size // n
    attention_1_scores[(n // SIDE, n // SIDE, heads), 256](query, key, scores, np.uint32(n))
    attention_1_softmax[heads * n // 8, 256](scores, lse, np.uint32(n))
    attention_1_output[(D // SIDE, n // SIDE, heads), 256](scores, value, out, np.uint32(n))


STEPS = (
    Step(
        "attention_1_unfused",
        "three kernels, and all scores in memory between them",
        run_1_unfused,
        (
            Built(attention_1_scores, "float32[::1], float32[::1], float32[::1], uint32", 256, 6),
            Built(attention_1_softmax, "float32[::1], float32[::1], uint32", 256, 8),
            Built(attention_1_output, "float32[::1], float32[::1], float32[::1], uint32", 256, 6),
        ),
    ),
)
