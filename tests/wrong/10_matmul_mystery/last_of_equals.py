# expect: best_tile: wrong result
# With >= the last of two equal candidates wins.
# ruff: noqa: F821


def best_tile(candidates, threads, step, stages, sm):
    best, chosen = (0.0, 0), (0, 0, 0)
    for rows, cols in candidates.tolist():
        registers, shared = rows * cols // threads + 40, (rows + cols) * step * 2 * stages
        if registers <= 255:
            blocks = blocks_per_sm(threads, registers, shared, sm)
            merit = (rows * cols / (rows + cols), blocks)
            if blocks and merit >= best:
                best, chosen = merit, (rows, cols, blocks)
    return chosen
