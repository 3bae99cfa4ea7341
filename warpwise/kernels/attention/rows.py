"""Steps 2 and 3: one kernel, with a query to each thread.

Step 2 loops as the first FlashAttention paper does: keys outside, queries inside. Step 3 has
queries outside, keys inside, and a query's row in registers.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda
from warpwise.kernels.attention.constants import FLASH_TYPES, LN2, LOWEST, SCALE, SCALE2
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

ROWS = 128  # queries, and threads, of a block


@cuda.jit
def attention_2_flash(query, key, value, lse, out, n):
    """A block per head, a thread per query, merging each tile's part into ``out`` and ``lse``."""
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


def run_2_flash(n: int, query: Array, key: Array, value: Array, lse: Array, out: Array) -> None:
    attention_2_flash[lse.size // n, ROWS](query, key, value, lse, out, np.uint32(n))


@cuda.jit(fastmath=True, launch_bounds=ROWS)
def attention_3_rows(query, key, value, lse, out, n):
    """All threads of a warp read the same key, which costs no more than one read.

    Sums are rescaled only if the maximum grows.
    """
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
            to = row * np.uint32(64) + np.uint32(k)
            store4(out, to, sums[k] * f, sums[k + 1] * f, sums[k + 2] * f, sums[k + 3] * f)
        lse[row] = (m * SCALE2 + math.log2(total)) * LN2


def run_3_rows(n: int, query: Array, key: Array, value: Array, lse: Array, out: Array) -> None:
    attention_3_rows[(-(-n // ROWS), lse.size // n), ROWS](
        query, key, value, lse, out, np.uint32(n)
    )


STEPS = (
    Step(
        "attention_2_flash",
        "one kernel, and no score leaves the chip; partial results do",
        run_2_flash,
        (Built(attention_2_flash, FLASH_TYPES, ROWS, 3),),
    ),
    Step(
        "attention_3_rows",
        "a thread's query and sums in registers",
        run_3_rows,
        (Built(attention_3_rows, FLASH_TYPES, ROWS, 3, opcodes=("LDS.128",), fma_share=0.5),),
    ),
)
