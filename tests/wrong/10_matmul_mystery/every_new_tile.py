# expect: cliffs: wrong result
# Every size at which a tile more is needed is called a cliff; most of them fit the wave.
from math import ceil

import numpy as np


def cliffs(first, last, sms, blocks_per_sm, tile_rows, tile_cols):
    def count(n):
        return ceil(n / tile_rows) * ceil(n / tile_cols)

    return np.array([n for n in range(first, last + 1) if count(n) > count(n - 1)], dtype=np.int64)
