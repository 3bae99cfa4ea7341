# expect: flash_backward: over budget: memory
# The formulas as they stand, with four matrices of queries by keys.
import numpy as np


def flash_backward(q, k, v, o, do, L, scale, offset):
    i, j = np.indices((len(q), len(k)), sparse=True)
    seen = j <= i + offset
    s = scale * (q @ k.T)
    p = np.exp(np.where(seen, s, -np.inf) - np.where(np.isinf(L), 0, L)[:, None])
    ds = p * (do @ v.T - (do * o).sum(axis=1, keepdims=True))
    return scale * (ds @ k), scale * (ds.T @ q), p.T @ do
