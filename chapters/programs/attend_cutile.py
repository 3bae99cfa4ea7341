"""Attention in cuTile, forward, for one head: softmax(Q K^T scale) V in powers of 2.

``q``, ``k``, ``v``, ``o``: n x D; ``scale`` includes log2(e). ROWS and KEYS: the tile, powers of 2
of at least 16. A launch needs a GPU; a compiler has taken it, and it was not run."""

import cuda.tile as ct

NEVER = float("-inf")
Size = ct.Constant[int]


@ct.kernel
def attend(q, k, v, o, n, scale, D: Size, ROWS: Size, KEYS: Size):
    mine = ct.bid(0)
    zero = ct.PaddingMode.ZERO
    rows = ct.load(q, (mine, 0), (ROWS, D), padding_mode=zero)
    top = ct.full((ROWS, 1), NEVER, ct.float32)
    total = ct.zeros((ROWS, 1), ct.float32)
    sums = ct.zeros((ROWS, D), ct.float32)
    for tile in range(ct.cdiv(n, KEYS)):
        keys = ct.load(k, (tile, 0), (KEYS, D), padding_mode=zero)
        s = ct.zeros((ROWS, KEYS), ct.float32)
        s = ct.mma(rows, ct.transpose(keys), s) * scale
        at = tile * KEYS + ct.arange(KEYS, dtype=ct.int32)
        s = ct.where(at[None, :] < n, s, NEVER)
        higher = ct.maximum(top, ct.max(s, 1, keepdims=True))
        f = ct.exp2(top - higher)
        p = ct.exp2(s - higher)
        total = total * f + ct.sum(p, 1, keepdims=True)
        values = ct.load(v, (tile, 0), (KEYS, D), padding_mode=zero)
        sums = ct.mma(ct.astype(p, v.dtype), values, sums * f)
        top = higher
    ct.store(o, (mine, 0), ct.astype(sums / total, o.dtype))
