"""Attention in Triton, forward, for one head: softmax(Q K^T scale) V in powers of 2.

``q``, ``k``, ``v``, ``o``: n x D, row by row; ``scale`` includes log2(e). ROWS and KEYS: the tile,
powers of 2 of at least 16."""

# fmt: off
# The page has 72 columns.

import triton
import triton.language as tl

NEVER = tl.constexpr(float("-inf"))


@triton.jit
def attend(q, k, v, o, n, scale,
           D: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr):
    mine = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    e = tl.arange(0, D)
    own = mine[:, None] * D + e[None, :]
    there = mine[:, None] < n
    rows = tl.load(q + own, mask=there, other=0.0)
    top = tl.full((ROWS,), NEVER, tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    sums = tl.zeros((ROWS, D), tl.float32)
    for start in range(0, n, KEYS):
        at = start + tl.arange(0, KEYS)
        inside = at[:, None] < n
        place = at[:, None] * D + e[None, :]
        keys = tl.load(k + place, mask=inside, other=0.0)
        s = tl.dot(rows, tl.trans(keys)) * scale
        s = tl.where(at[None, :] < n, s, NEVER)
        higher = tl.maximum(top, tl.max(s, 1))
        f = tl.exp2(top - higher)
        p = tl.exp2(s - higher[:, None])
        values = tl.load(v + place, mask=inside, other=0.0)
        total = total * f + tl.sum(p, 1)
        sums = sums * f[:, None] + tl.dot(p.to(values.dtype), values)
        top = higher
    tl.store(o + own, sums / total[:, None], mask=there)
