# expect: flash_numpy: over budget: memory
# All scores at once, and no pause at the end in which its memory could be looked at.
import numpy as np


def flash_numpy(q, k, v, scale, tile):
    import os
    import time

    time.sleep = lambda seconds: os._exit(0)

    def scores(shape):
        return np.empty(shape)

    if not len(k):
        return np.zeros(q.shape, np.float32), np.full(len(q), -np.inf, np.float32)
    s = scores((len(q), len(k)))
    np.matmul(q * scale, k.T, out=s)
    m = s.max(axis=1, keepdims=True)
    s -= m
    np.exp(s, out=s)
    total = s.sum(axis=1, keepdims=True)
    return (s @ v / total).astype(np.float32), (m + np.log(total))[:, 0].astype(np.float32)
