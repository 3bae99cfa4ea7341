"""Parts of all steps: rows of q as fragments, the online softmax, and the results' stores."""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda
from warpwise.kernels.bfloat16 import pack_bfloat16
from warpwise.kernels.native import native, ptx
from warpwise.kernels.step import Array

WIDTH = 64  # numbers in a row of q, k and v
ALL = 0xFFFFFFFF
SCALE = np.float32(math.log2(math.e) / math.sqrt(WIDTH))  # of scores, for powers of two
NONE = np.float32(-1e30)  # the largest score of no keys: finite, and below every other
# words in a copy of 16 bytes; words from row to row
QUAD, PITCH = np.uint32(4), np.uint32(WIDTH // 2)
TYPES = "uint32[::1], uint32[::1], uint32[::1], uint32[::1], uint32"


def _exp2(x):
    return cuda.libdevice.exp2f(x)


@native(_exp2)
def exp2_approximate(typingctx, x):
    """Return 2 to the power of a float32, to about 22 bits, by the special-function unit."""
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        value = context.cast(builder, args[0], signature.args[0], types.float32)
        return ptx(builder, "ex2.approx.ftz.f32 $0, $1;", ir.FloatType(), "f", [("f", value)])

    return types.float32(x), generate


@cuda.jit(device=True, forceinline=True)
def clear(sums, count):
    for i in range(count):
        sums[i] = np.float32(0)


@cuda.jit(device=True, forceinline=True)
def load_rows(part, p, source, at):
    """Load 16 rows of q as four fragments, from ``part[p]`` on; ``at``: the lane's first word."""
    for j in range(4):
        here = np.uint32(at + np.uint32(8 * j))
        part[p + 4 * j] = source[here]
        part[p + 4 * j + 1] = source[here + np.uint32(8) * PITCH]
        part[p + 4 * j + 2] = source[here + QUAD]
        part[p + 4 * j + 3] = source[here + np.uint32(8) * PITCH + QUAD]


@cuda.jit(device=True, forceinline=True)
def soften(scores, first, pairs, largest):
    """Turn one row's scores, of which four lanes have parts, into powers.

    ``largest``: the largest score before these. Returns the new one, the factor for earlier sums,
    and the lane's sum of powers.
    """
    top = largest
    for j in range(pairs):
        larger = cuda.libdevice.fmaxf(scores[first + 4 * j], scores[first + 4 * j + 1])
        top = cuda.libdevice.fmaxf(top, larger)
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
    # the factor is exactly 1 if nothing is larger
    return top, exp2_approximate((largest - top) * SCALE), total


@cuda.jit(device=True, forceinline=True)
def rescale(sums, s, above, below):
    """Multiply 16 rows of sums by a factor for row g and one for row g + 8."""
    for j in range(8):
        sums[s + 4 * j] *= above
        sums[s + 4 * j + 1] *= above
        sums[s + 4 * j + 2] *= below
        sums[s + 4 * j + 3] *= below


@cuda.jit(device=True, forceinline=True)
def soften_16_rows(scores, s, pairs, largest, totals, sums, r):
    """Soften rows g and g + 8, with ``largest[r:]``, ``totals[r:]`` and sums from 16 r on."""
    top0, factor0, total0 = soften(scores, s, pairs, largest[r])
    top1, factor1, total1 = soften(scores, s + 2, pairs, largest[r + 1])
    largest[r] = top0
    largest[r + 1] = top1
    totals[r] = totals[r] * factor0 + total0
    totals[r + 1] = totals[r + 1] * factor1 + total1
    rescale(sums, 16 * r, factor0, factor1)


@cuda.jit(device=True, forceinline=True)
def weights_of(scores, s):
    """Return 16 rows' weights of 16 keys, from ``scores[s]`` on, as a fragment of A."""
    a0, a1 = pack_bfloat16(scores[s], scores[s + 1]), pack_bfloat16(scores[s + 2], scores[s + 3])
    a2 = pack_bfloat16(scores[s + 4], scores[s + 5])
    a3 = pack_bfloat16(scores[s + 6], scores[s + 7])
    return a0, a1, a2, a3


@cuda.jit(device=True, forceinline=True)
def whole(total):
    """Return a row's sum of four lanes' parts."""
    total += cuda.shfl_xor_sync(ALL, total, 1)
    total += cuda.shfl_xor_sync(ALL, total, 2)
    return total


@cuda.jit(device=True, forceinline=True)
def keep_16_rows(out, at, sums, s, totals, r):
    """Divide by the rows' sums, and store; ``at``: the lane's first word."""
    above, below = np.float32(1) / whole(totals[r]), np.float32(1) / whole(totals[r + 1])
    for j in range(8):
        here = np.uint32(at + np.uint32(4 * j))
        out[here] = pack_bfloat16(sums[s + 4 * j] * above, sums[s + 4 * j + 1] * above)
        out[here + np.uint32(8) * PITCH] = pack_bfloat16(
            sums[s + 4 * j + 2] * below, sums[s + 4 * j + 3] * below
        )


def heads(n: int, q: Array) -> int:
    count: int = 2 * q.size // (n * WIDTH)
    return count
