# expect: flash_backward: wrong result
# Tiles of keys, each with a softmax of its own: L is not used.
import numpy as np


def flash_backward(q, k, v, o, do, L, scale, offset):
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    delta = (do * o).sum(axis=1, keepdims=True)
    for first in range(0, len(k), 16):
        keys = slice(first, min(first + 16, len(k)))
        for i in range(max(0, first - offset), len(q)):
            seen = slice(first, min(keys.stop, i + offset + 1))
            s = scale * (k[seen] @ q[i])
            p = np.exp(s - s.max())
            p /= p.sum()
            ds = p * (v[seen] @ do[i] - delta[i])
            dv[seen] += np.outer(p, do[i])
            dk[seen] += scale * np.outer(ds, q[i])
            dq[i] += scale * (ds @ k[seen])
    return dq, dk, dv
