# expect: cliffs: wrong result
# Waves are compared within the range alone, so a cliff at its first size is missed.
# ruff: noqa: F821
import numpy as np


def cliffs(first, last, sms, blocks_per_sm, tile_rows, tile_cols):
    taken = [waves(tiles(n, n, tile_rows, tile_cols), sms, blocks_per_sm) for n in range(first, last + 1)]
    return np.arange(first + 1, last + 1)[np.diff(taken) > 0]
