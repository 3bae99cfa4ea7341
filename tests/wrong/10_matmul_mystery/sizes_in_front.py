# expect: cliffs: wrong result
# Finds the cliffs, and returns the size in front of each.
from math import ceil

import numpy as np


def cliffs(first, last, sms, blocks_per_sm, tile_rows, tile_cols):
    def taken(n):
        return ceil(ceil(n / tile_rows) * ceil(n / tile_cols) / (sms * blocks_per_sm))

    return np.array([n - 1 for n in range(first, last + 1) if taken(n) > taken(n - 1)], dtype=np.int64)
