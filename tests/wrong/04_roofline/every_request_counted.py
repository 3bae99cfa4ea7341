# expect: count_work: wrong result
# The bytes that the threads ask for, and not the different ones: what no cache would help with.
import numpy as np


def count_work(n, k):
    flop = [2 * n, 3 * n, 3 * k * n, n**2, 2 * n**2, 2 * n**3]
    elements = [3 * n, 4 * n, n * (2 * k + 3), 3 * n**2, n * (2 * n + 1), n**2 * (2 * n + 1)]
    return np.array([flop, [4 * count for count in elements]], dtype=np.int64).T
