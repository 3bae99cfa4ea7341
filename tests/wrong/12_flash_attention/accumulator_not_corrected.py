# expect: flash_numpy: wrong result
# When the maximum rises, the sum is corrected and the accumulator is not.
import numpy as np


def flash_numpy(q, k, v, scale, tile):
    n, d = q.shape
    o = np.zeros((n, d), np.float32)
    lse = np.full(n, -np.inf, np.float32)
    for first in range(0, n, tile):
        rows = q[first : first + tile] * scale
        m = np.full((len(rows), 1), -np.inf, np.float32)
        total = np.zeros((len(rows), 1), np.float32)
        acc = np.zeros((len(rows), d), np.float32)
        for start in range(0, len(k), tile):
            s = rows @ k[start : start + tile].T
            above = np.maximum(m, s.max(axis=1, keepdims=True))
            p, fix = np.exp(s - above), np.exp(m - above)
            total = total * fix + p.sum(axis=1, keepdims=True)
            acc = acc + p @ v[start : start + tile]
            m = above
        if len(k):
            o[first : first + tile] = acc / total
            lse[first : first + tile] = (m + np.log(total))[:, 0]
    return o, lse
