# expect: count_work: wrong result
# Shape (2, 6): a row of FLOP and a row of bytes.
import numpy as np


def count_work(n, k):
    flop = [2 * n, 3 * n, 3 * k * n, n**2, 2 * n**2, 2 * n**3]
    elements = [3 * n, 2 * n + 2, 2 * n + k + 1, n**2 + 2 * n, n**2 + 2 * n, 3 * n**2]
    return np.array([flop, [4 * count for count in elements]], dtype=np.int64)
