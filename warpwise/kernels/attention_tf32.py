"""Attention in float32 on tensor cores, with three TF32 products for one of float32.

A tensor core multiplies numbers of TF32: float32 with 10 bits after the binary point in place of
23. So x is split into a high part, x rounded to those bits, and a low part, the rest. Of (a + a')(b
+ b') only a'b', which is 2^-22 of the whole, is left out. CUTLASS calls this "3xTF32". The arrays
are those of ``attention``.

A block has four warps, and a warp 16 queries. With ``g = lane // 4`` and ``q = lane % 4``:

- ``mma_tf32`` multiplies A (16 x 8) with B (8 x 8). ``a0``: row g, column q; ``a1``: row g + 8;
  ``a2, a3``: column q + 4. ``b0``: row q, column g; ``b1``: row q + 4. ``c0, c1``: row g, columns
  2q and 2q + 1; ``c2, c3``: row g + 8 (PTX ISA, "mma.m16n8k8").
- The assignment of eight elements to the columns of A is free, if B's rows are in the same order.
  For scores, columns q and q + 4 are two neighbours of the four elements that a lane reads at once.
  For the sums they are keys 2q and 2q + 1: so a lane's scores are its part of A.
- Column g of B, of the eight such matrices that make up the values, are elements 8g, 8g + 1 ...: a
  lane reads all of them at once.

In shared memory vector v (four elements) of query or key i is at v ^ 4 (i & 1), of value i at v ^
(0, 1, 4, 5)[i / 2 & 3], without bank conflicts.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda
from warpwise.kernels.attention.constants import LN2, LOWEST, SCALE2
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.tensor_core import cp_async16, cp_async_commit, cp_async_wait, mma_tf32
from warpwise.kernels.wide import load4, store4

ALL = 0xFFFFFFFF
THREADS = 128
TILE = 64  # queries, and keys, in a block at once


# --- products of three ---


@cuda.jit(device=True, forceinline=True)
def high(x):
    """Return the nearest number with no more bits than a tensor core uses."""
    return cuda.libdevice.int_as_float(np.int32((cuda.libdevice.float_as_int(x) + 4096) & -8192))


@cuda.jit(device=True, forceinline=True)
def add_product(c, at, h0, h1, h2, h3, l0, l1, l2, l3, b0, b1):
    """Add A B to ``c[at]`` ... ``c[at + 3]``; A comes split, B does not."""
    g0, g1 = high(b0), high(b1)
    c0, c1, c2, c3 = mma_tf32(l0, l1, l2, l3, g0, g1, c[at], c[at + 1], c[at + 2], c[at + 3])
    c0, c1, c2, c3 = mma_tf32(h0, h1, h2, h3, b0 - g0, b1 - g1, c0, c1, c2, c3)
    c[at], c[at + 1], c[at + 2], c[at + 3] = mma_tf32(h0, h1, h2, h3, g0, g1, c0, c1, c2, c3)


# --- tiles ---


@cuda.jit(device=True, forceinline=True)
def copy_rows(tile, source, first, t):
    """Start copying 64 rows of queries or keys."""
    for part in range(8):
        row, vector = (t >> np.uint32(4)) + np.uint32(8 * part), t & np.uint32(15)
        to = (row << np.uint32(6)) + (
            (vector ^ ((row & np.uint32(1)) << np.uint32(2))) << np.uint32(2)
        )
        cp_async16(tile, np.uint32(to), source, first + t * np.uint32(4) + np.uint32(512 * part))


@cuda.jit(device=True, forceinline=True)
def copy_values(tile, source, first, t):
    for part in range(8):
        row, vector = (t >> np.uint32(4)) + np.uint32(8 * part), t & np.uint32(15)
        other = ((row >> np.uint32(1)) & np.uint32(1)) + (row & np.uint32(4))
        to = (row << np.uint32(6)) + ((vector ^ other) << np.uint32(2))
        cp_async16(tile, np.uint32(to), source, first + t * np.uint32(4) + np.uint32(512 * part))


@cuda.jit(device=True, forceinline=True)
def add_scores(s, Qs, Ks, mine, g, q, part):
    """Add Q K^T over elements ``16 part`` ... ``16 part + 15`` to s: two products for eight keys.

    ``mine``: the warp's first query.
    """
    at = np.uint32(
        (g << np.uint32(6))
        + (((q + np.uint32(4 * part)) ^ ((g & np.uint32(1)) << np.uint32(2))) << np.uint32(2))
    )
    a0, a2, e0, e2 = load4(Qs, mine + at)
    a1, a3, e1, e3 = load4(Qs, mine + at + np.uint32(512))
    h0, h1, h2, h3, f0, f1, f2, f3 = (
        high(a0),
        high(a1),
        high(a2),
        high(a3),
        high(e0),
        high(e1),
        high(e2),
        high(e3),
    )
    l0, l1, l2, l3, r0, r1, r2, r3 = (
        a0 - h0,
        a1 - h1,
        a2 - h2,
        a3 - h3,
        e0 - f0,
        e1 - f1,
        e2 - f2,
        e3 - f3,
    )
    for j in range(8):
        k0, k1, k2, k3 = load4(Ks, at + np.uint32(512 * j))
        add_product(s, 4 * j, h0, h1, h2, h3, l0, l1, l2, l3, k0, k1)
        add_product(s, 4 * j, f0, f1, f2, f3, r0, r1, r2, r3, k2, k3)


@cuda.jit(device=True, forceinline=True)
def to_weights(s, sums, m, total):
    """Turn scores into weights for a lane's two rows; rescale if the largest score grows."""
    for row in range(2):
        largest = m[row]
        for j in range(8):
            largest = max(largest, max(s[4 * j + 2 * row], s[4 * j + 2 * row + 1]))
        largest = max(largest, cuda.shfl_xor_sync(ALL, largest, 1))
        largest = max(largest, cuda.shfl_xor_sync(ALL, largest, 2))
        fix = math.exp2((m[row] - largest) * SCALE2)
        m[row] = largest
        base = largest * SCALE2
        total[row] *= fix
        for j in range(8):
            for at in range(4 * j + 2 * row, 4 * j + 2 * row + 2):
                sums[at] *= fix
                s[at] = math.exp2(s[at] * SCALE2 - base)
                total[row] += s[at]


@cuda.jit(device=True, forceinline=True)
def add_values(sums, s, Vs, g, q, part):
    """Add P V over keys ``8 part`` ... ``8 part + 7`` to the sums."""
    other = (q & np.uint32(1)) + ((q & np.uint32(2)) << np.uint32(1))
    at = np.uint32((q << np.uint32(7)) + (((g + g) ^ other) << np.uint32(2)))
    p0, p1, p2, p3 = s[4 * part], s[4 * part + 2], s[4 * part + 1], s[4 * part + 3]
    h0, h1, h2, h3 = high(p0), high(p1), high(p2), high(p3)
    l0, l1, l2, l3 = p0 - h0, p1 - h1, p2 - h2, p3 - h3
    for j in range(2):
        from_here = (at ^ np.uint32(4 * j)) + np.uint32(512 * part)
        u0, u1, u2, u3 = load4(Vs, from_here)
        v0, v1, v2, v3 = load4(Vs, from_here + np.uint32(64))
        add_product(sums, 16 * j, h0, h1, h2, h3, l0, l1, l2, l3, u0, v0)
        add_product(sums, 16 * j + 4, h0, h1, h2, h3, l0, l1, l2, l3, u1, v1)
        add_product(sums, 16 * j + 8, h0, h1, h2, h3, l0, l1, l2, l3, u2, v2)
        add_product(sums, 16 * j + 12, h0, h1, h2, h3, l0, l1, l2, l3, u3, v3)


@cuda.jit(device=True, forceinline=True)
def finish(out, lse, first, sums, m, total, q):
    """Store rows ``first`` and ``first + 8``: a lane has 16 elements of each, from 16 q on."""
    for row in range(2):
        total[row] += cuda.shfl_xor_sync(ALL, total[row], 1)
        total[row] += cuda.shfl_xor_sync(ALL, total[row], 2)
        f = np.float32(1) / total[row]
        here = first + np.uint32(8 * row)
        at = here * np.uint32(64) + q * np.uint32(16)
        # elements 4k ... of the 16 are in columns 2q, or from 8 on in 2q + 1, of four products
        for k in range(4):
            i = 16 * (k & 1) + 2 * row + (k >> 1)
            store4(
                out,
                at + np.uint32(4 * k),
                sums[i] * f,
                sums[i + 4] * f,
                sums[i + 8] * f,
                sums[i + 12] * f,
            )
        if q == 0:
            lse[here] = (m[row] * SCALE2 + math.log2(total[row])) * LN2


@cuda.jit(fastmath=True, launch_bounds=(128, 3))
def attention_6_tensor(query, key, value, lse, out, n):
    """Values arrive during the scores' computation, and the next keys during the values' sums."""
    Qs = cuda.shared.array(4096, "float32", alignment=16)
    Ks = cuda.shared.array(4096, "float32", alignment=16)
    Vs = cuda.shared.array(4096, "float32", alignment=16)
    s = cuda.local.array(32, "float32")
    sums = cuda.local.array(32, "float32")
    m = cuda.local.array(2, "float32")
    total = cuda.local.array(2, "float32")
    t, head = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockIdx.y) * n
    g, q = np.uint32((t >> np.uint32(2)) & np.uint32(7)), np.uint32(t & np.uint32(3))
    first, mine = (
        head + np.uint32(cuda.blockIdx.x) * np.uint32(64),
        np.uint32((t >> np.uint32(5)) << np.uint32(10)),
    )
    copy_rows(Qs, query, first * np.uint32(64), t)
    copy_rows(Ks, key, head * np.uint32(64), t)
    cp_async_commit()
    for i in range(32):
        sums[i] = np.float32(0)
    for i in range(2):
        m[i], total[i] = LOWEST, np.float32(0)
    for start in range(0, n, 64):
        tile = (head + np.uint32(start)) * np.uint32(64)
        copy_values(Vs, value, tile, t)
        cp_async_commit()
        for i in range(32):
            s[i] = np.float32(0)
        cp_async_wait(1)
        cuda.syncthreads()
        add_scores(s, Qs, Ks, mine, g, q, 0)
        add_scores(s, Qs, Ks, mine, g, q, 1)
        add_scores(s, Qs, Ks, mine, g, q, 2)
        add_scores(s, Qs, Ks, mine, g, q, 3)
        to_weights(s, sums, m, total)
        cp_async_wait(0)
        cuda.syncthreads()
        if start + 64 < n:
            copy_rows(Ks, key, tile + np.uint32(4096), t)
            cp_async_commit()
        add_values(sums, s, Vs, g, q, 0)
        add_values(sums, s, Vs, g, q, 1)
        add_values(sums, s, Vs, g, q, 2)
        add_values(sums, s, Vs, g, q, 3)
        add_values(sums, s, Vs, g, q, 4)
        add_values(sums, s, Vs, g, q, 5)
        add_values(sums, s, Vs, g, q, 6)
        add_values(sums, s, Vs, g, q, 7)
        cuda.syncthreads()
    finish(out, lse, first + (mine >> np.uint32(6)) + g, sums, m, total, q)


def run_6_tensor(n: int, query: Array, key: Array, value: Array, lse: Array, out: Array) -> None:
    attention_6_tensor[(n // TILE, lse.size // n), THREADS](
        query, key, value, lse, out, np.uint32(n)
    )


TYPES = "float32[::1], float32[::1], float32[::1], float32[::1], float32[::1], uint32"
STEPS = (
    Step(
        "attention_6_tensor",
        "on tensor cores, three products for one",
        run_6_tensor,
        (
            Built(
                attention_6_tensor,
                TYPES,
                THREADS,
                3,
                opcodes=("HMMA.1688.F32.TF32", "LDS.128", "LDGSTS.E.BYPASS.128"),
            ),
        ),
    ),
)
