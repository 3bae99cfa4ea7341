# expect: tiles: wrong result
# The area is rounded up once, as if a tile could be cut and its pieces used elsewhere.
from math import ceil


def tiles(rows, cols, tile_rows, tile_cols):
    return ceil(rows * cols / (tile_rows * tile_cols))
