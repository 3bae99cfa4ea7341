# expect: count_work: wrong result
# k is taken from the first visible call.
import numpy as np


def count_work(n, k):
    flop = [2 * n, 3 * n, 15 * n, n**2, 2 * n**2, 2 * n**3]
    elements = [3 * n, 2 * n + 2, 2 * n + 6, n**2 + 2 * n, n**2 + 2 * n, 3 * n**2]
    return np.array([flop, [4 * count for count in elements]], dtype=np.int64).T
