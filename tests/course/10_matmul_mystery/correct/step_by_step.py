"""Counted out one by one where others round: slow, plain, and right."""
# ruff: noqa: F821

import numpy as np

from warpwise import cuda


def tiles(rows, cols, tile_rows, tile_cols):
    return len(range(0, rows, tile_rows)) * len(range(0, cols, tile_cols))


def waves(blocks, sms, blocks_per_sm):
    taken = 0
    while blocks > 0:
        blocks -= sms * blocks_per_sm
        taken += 1
    return taken


def throughput(n, sms, peak, bandwidth, tile_rows, tile_cols):
    one_tile = 2.0 * tile_rows * tile_cols * n / (peak / sms)
    time = one_tile * waves(tiles(n, n, tile_rows, tile_cols), sms, 1)
    if time < 6.0 * n * n / bandwidth:
        time = 6.0 * n * n / bandwidth
    return 2.0 * n * n * n / time


def cliffs(first, last, sms, blocks_per_sm, tile_rows, tile_cols):
    found = []
    before = waves(tiles(first - 1, first - 1, tile_rows, tile_cols), sms, blocks_per_sm)
    for n in range(first, last + 1):
        now = waves(tiles(n, n, tile_rows, tile_cols), sms, blocks_per_sm)
        if now > before:
            found.append(n)
        before = now
    return np.array(found, dtype=np.int64)


def pitch_for(cols, itemsize, unit):
    while cols * itemsize % unit:
        cols += 1
    return cols


@cuda.jit
def pad_rows(src, dst):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < dst.shape[0]:
        if col < src.shape[1]:
            dst[row, col] = src[row, col]
        elif col < dst.shape[1]:
            dst[row, col] = 0


def blocks_per_sm(threads, registers, shared_bytes, sm):
    warps = (threads + 31) // 32
    per_warp = registers * 32
    while per_warp % sm[3]:
        per_warp += 1
    taken = shared_bytes + int(sm[6])
    while taken % sm[7]:
        taken += 1
    in_part = int(sm[2]) // int(sm[4]) // per_warp
    blocks = 0
    while (
        (blocks + 1) * warps <= sm[0]
        and blocks + 1 <= sm[1]
        and (blocks + 1) * warps <= sm[4] * in_part
        and (blocks + 1) * taken <= sm[5]
    ):  # fmt: skip
        blocks += 1
    return blocks


def best_tile(candidates, threads, step, stages, sm):
    chosen, best = (0, 0, 0), 0.0
    for candidate in candidates:
        rows, cols = int(candidate[0]), int(candidate[1])
        registers = rows * cols // threads + 40
        shared = (rows + cols) * step * 2 * stages
        if registers > 255:
            continue
        blocks = blocks_per_sm(threads, registers, shared, sm)
        intensity = rows * cols / (rows + cols)
        if blocks > 0 and (intensity > best or (intensity == best and blocks > chosen[2])):
            chosen, best = (rows, cols, blocks), intensity
    return chosen


def explain(sizes, device):
    causes = np.full(len(sizes), -1)
    factors = np.ones(len(sizes))
    for i in range(len(sizes)):
        n = int(sizes[i])
        for cause in (0, 1, 2, 3):
            without = tuple(other != cause for other in range(4))
            gain = seconds(n, device, (True, True, True, True)) / seconds(n, device, without)
            if gain > 1 + 1e-9 and gain > factors[i]:
                causes[i], factors[i] = cause, gain
    return causes, factors
