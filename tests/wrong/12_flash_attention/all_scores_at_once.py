# expect: flash_numpy: over budget: memory
# Right, and the whole matrix of scores is made before the loops begin.
import numpy as np


def flash_numpy(q, k, v, scale, tile):
    s = scale * (q @ k.T)
    if not len(k):
        return np.zeros_like(q), np.full(len(q), -np.inf, np.float32)
    m = s.max(axis=1, keepdims=True)
    w = np.exp(s - m)
    total = w.sum(axis=1, keepdims=True)
    return w @ v / total, (m + np.log(total))[:, 0]
