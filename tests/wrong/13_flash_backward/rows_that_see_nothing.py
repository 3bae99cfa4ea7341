# expect: flash_backward: wrong result
# Masked scores and the L of a row without keys are both -inf: their difference is NaN.
import numpy as np


def flash_backward(q, k, v, o, do, L, scale, offset):
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    keys = np.arange(len(k))
    for i in range(len(q)):
        s = np.where(keys <= i + offset, scale * (k @ q[i]), -np.inf)
        p = np.exp(s - L[i])
        ds = p * (v @ do[i] - do[i] @ o[i])
        dv += np.outer(p, do[i])
        dk += scale * np.outer(ds, q[i])
        dq[i] = scale * (ds @ k)
    return dq, dk, dv
