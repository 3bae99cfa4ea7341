# expect: best_tile: wrong result
# Takes the tile with the greatest area that fits: a long narrow one may be as large, and loads more.
# ruff: noqa: F821


def best_tile(candidates, threads, step, stages, sm):
    best, chosen = (0, 0), (0, 0, 0)
    for rows, cols in candidates.tolist():
        registers, shared = rows * cols // threads + 40, (rows + cols) * step * 2 * stages
        blocks = blocks_per_sm(threads, registers, shared, sm) if registers <= 255 else 0
        if blocks and (rows * cols, blocks) > best:
            best, chosen = (rows * cols, blocks), (rows, cols, blocks)
    return chosen
