"""Parts of the tiled steps of ``attention``: two warps with 64 queries and 64 keys.

A thread has 8 x 8 scores, and then 8 x 8 sums. A warp has 32 queries. Its lane (r, c), of 4 x 8,
has queries r + 4i, keys c + 8j, and elements 4c ... 4c + 3 and 32 + 4c ... of the sums; here ``r``
counts from the block's first query. Where lanes that differ in bit 0 share c, and in bit 1 share r,
a read of 16 bytes takes half the wavefronts. A shared tile is 64 rows of 64 elements:

- Queries and keys: vector v (four elements) of row i is at v ^ (i & 7). So the same vector of eight
  rows is in different banks.
- Values: in their order, as the threads of a warp read one row of them at a time.
- Weights: in the place of the keys, and swizzled alike. Position 8c + j of a row is for key c + 8j,
  so that a thread's eight are neighbours.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda
from warpwise.kernels.attention.constants import LN2, SCALE2
from warpwise.kernels.tensor_core import cp_async16
from warpwise.kernels.wide import load4, store4

ALL = 0xFFFFFFFF

# --- tiles to shared memory ---


@cuda.jit(device=True, forceinline=True)
def swizzled(row, vector):
    """Return the first element of a vector of a row."""
    return np.uint32((row << np.uint32(6)) + ((vector ^ (row & np.uint32(7))) << np.uint32(2)))


@cuda.jit(device=True, forceinline=True)
def below(place, i):
    """Return the first element of the same vector 4 i rows on; the row number's bit 2 is 0."""
    return (place ^ np.uint32(16) if i & 1 else place) + np.uint32(256 * i)


@cuda.jit(device=True, forceinline=True)
def load_rows(tile, source, first, t):
    """Load 64 rows of ``source`` from element ``first`` on into a swizzled tile."""
    to = swizzled(np.uint32(t >> np.uint32(4)), np.uint32(t & np.uint32(15)))
    for k in range(16):
        a, b, c, d = load4(source, first + t * np.uint32(4) + np.uint32(256 * k))
        store4(tile, below(to, k), a, b, c, d)


@cuda.jit(device=True, forceinline=True)
def load_values(tile, source, first, t):
    """Load 64 rows in their order."""
    for k in range(16):
        a, b, c, d = load4(source, first + t * np.uint32(4) + np.uint32(256 * k))
        store4(tile, t * np.uint32(4) + np.uint32(256 * k), a, b, c, d)


@cuda.jit(device=True, forceinline=True)
def copy_rows(tile, source, first, t):
    """Start the copy that ``load_rows`` makes."""
    to = swizzled(np.uint32(t >> np.uint32(4)), np.uint32(t & np.uint32(15)))
    for k in range(16):
        cp_async16(tile, below(to, k), source, first + t * np.uint32(4) + np.uint32(256 * k))


@cuda.jit(device=True, forceinline=True)
def copy_values(tile, source, first, t):
    """Start the copy that ``load_values`` makes."""
    for k in range(16):
        cp_async16(
            tile,
            t * np.uint32(4) + np.uint32(256 * k),
            source,
            first + t * np.uint32(4) + np.uint32(256 * k),
        )


# --- the two products, and the weights between them ---


@cuda.jit(device=True, forceinline=True)
def add_scores(s, Qs, Ks, a, r, c):
    """Add Q K^T to this thread's 8 x 8 scores; ``a``: a local array of 32."""
    for v in range(16):
        of_q, of_k = swizzled(r, np.uint32(v)), swizzled(c, np.uint32(v))
        for j in range(8):
            a[4 * j], a[4 * j + 1], a[4 * j + 2], a[4 * j + 3] = load4(
                Ks, of_k + np.uint32(512 * j)
            )
        for i in range(8):
            q0, q1, q2, q3 = load4(Qs, below(of_q, i))
            for j in range(8):
                s[8 * i + j] += q0 * a[4 * j]
            for j in range(8):
                s[8 * i + j] += q1 * a[4 * j + 1]
            for j in range(8):
                s[8 * i + j] += q2 * a[4 * j + 2]
            for j in range(8):
                s[8 * i + j] += q3 * a[4 * j + 3]


@cuda.jit(device=True, forceinline=True)
def to_weights(s, sums, m, total):
    """Turn scores into weights, relative to the largest so far; rescale sums if that grows."""
    for i in range(8):
        largest = m[i]
        for j in range(8):
            largest = max(largest, s[8 * i + j])
        for k in range(3):
            largest = max(largest, cuda.shfl_xor_sync(ALL, largest, 2 << k))
        fix = math.exp2((m[i] - largest) * SCALE2)
        m[i] = largest
        base = largest * SCALE2
        total[i] *= fix
        for j in range(8):
            sums[8 * i + j] *= fix
            s[8 * i + j] = math.exp2(s[8 * i + j] * SCALE2 - base)
            total[i] += s[8 * i + j]


@cuda.jit(device=True, forceinline=True)
def store_weights(Ps, s, r, c):
    """Store this thread's 8 x 8 weights for the products with values."""
    to = swizzled(r, np.uint32(c + c))
    for i in range(8):
        left = below(to, i)
        store4(Ps, left, s[8 * i], s[8 * i + 1], s[8 * i + 2], s[8 * i + 3])
        store4(Ps, left ^ np.uint32(4), s[8 * i + 4], s[8 * i + 5], s[8 * i + 6], s[8 * i + 7])


@cuda.jit(device=True, forceinline=True)
def add_values(sums, Ps, Vs, a, r, c):
    """Add P V to this thread's 8 x 8 sums; ``a``: a local array of 32."""
    for w in range(16):  # positions 4w ... 4w + 3, which are keys 8 apart
        of_p, of_v = (
            swizzled(r, np.uint32(w)),
            np.uint32(64 * (w >> 1) + 2048 * (w & 1)) + c * np.uint32(4),
        )
        for e in range(4):
            a[8 * e], a[8 * e + 1], a[8 * e + 2], a[8 * e + 3] = load4(
                Vs, of_v + np.uint32(512 * e)
            )
            a[8 * e + 4], a[8 * e + 5], a[8 * e + 6], a[8 * e + 7] = load4(
                Vs, of_v + np.uint32(512 * e + 32)
            )
        for i in range(8):
            p0, p1, p2, p3 = load4(Ps, below(of_p, i))
            for x in range(8):
                sums[8 * i + x] += p0 * a[x]
            for x in range(8):
                sums[8 * i + x] += p1 * a[8 + x]
            for x in range(8):
                sums[8 * i + x] += p2 * a[16 + x]
            for x in range(8):
                sums[8 * i + x] += p3 * a[24 + x]


@cuda.jit(device=True, forceinline=True)
def finish(out, lse, first, sums, m, total, r, c):
    """Divide by the totals, of which the 8 lanes of a row have parts, and store.

    ``first``: the block's first row.
    """
    for i in range(8):
        for k in range(3):
            total[i] += cuda.shfl_xor_sync(ALL, total[i], 2 << k)
        f = np.float32(1) / total[i]
        row = first + r + np.uint32(4 * i)
        at = row * np.uint32(64) + c * np.uint32(4)
        store4(
            out, at, sums[8 * i] * f, sums[8 * i + 1] * f, sums[8 * i + 2] * f, sums[8 * i + 3] * f
        )
        at += np.uint32(32)
        store4(
            out,
            at,
            sums[8 * i + 4] * f,
            sums[8 * i + 5] * f,
            sums[8 * i + 6] * f,
            sums[8 * i + 7] * f,
        )
        if c == 0:
            lse[row] = (m[i] * SCALE2 + math.log2(total[i])) * LN2
