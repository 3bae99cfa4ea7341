"""A binary search asserts that it finds its value, and looks for one that lies beyond the last."""

import numpy as np
from numba import cuda


@cuda.jit
def find(table, wanted, out):
    i = cuda.grid(1)
    low, high = 0, table.size - 1
    while low < high:
        middle = (low + high) // 2
        if table[middle] < wanted[i]:
            low = middle + 1
        else:
            high = middle
    assert table[low] == wanted[i]  # expect: KernelAssertionError
    out[i] = low


def launch(rng):
    table = np.cumsum(rng.integers(1, 9, 100))
    wanted = rng.choice(table, 64)
    wanted[20] = table[-1] + 1
    return find, 2, 32, (table, wanted, np.zeros(64, np.int64))
