# expect: tiles: wrong result
# The last piece of a side is dropped: division rounds down.


def tiles(rows, cols, tile_rows, tile_cols):
    return (rows // tile_rows) * (cols // tile_cols)
