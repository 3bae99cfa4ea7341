# expect: flash_backward: wrong result
# The scale is an argument, and need not be 1 / sqrt(d).
import math

import numpy as np


def flash_backward(q, k, v, o, do, L, scale, offset):
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    scale, rows = 1 / math.sqrt(q.shape[1]), 64
    for first in range(0, len(q), rows):
        tile = slice(first, min(first + rows, len(q)))
        end = min(len(k), tile.stop + offset)
        if end <= 0:
            continue
        i = np.arange(tile.start, tile.stop)[:, None]
        seen = np.arange(end) <= i + offset
        s = scale * (q[tile] @ k[:end].T)
        p = np.exp(np.where(seen, s, -np.inf) - np.where(np.isinf(L[tile]), 0, L[tile])[:, None])
        delta = (do[tile] * o[tile]).sum(axis=1, keepdims=True)
        ds = p * (do[tile] @ v[:end].T - delta)
        dv[:end] += p.T @ do[tile]
        dk[:end] += scale * ds.T @ q[tile]
        dq[tile] = scale * ds @ k[:end]
    return dq, dk, dv
