"""Whole numbers throughout: no float division where a count is meant, NumPy where a loop would do."""
# ruff: noqa: F821

from math import gcd

import numpy as np

from warpwise import cuda


def tiles(rows, cols, tile_rows, tile_cols):
    return -(-rows // tile_rows) * -(-cols // tile_cols)


def waves(blocks, sms, blocks_per_sm):
    return (blocks + sms * blocks_per_sm - 1) // (sms * blocks_per_sm)


def throughput(n, sms, peak, bandwidth, tile_rows, tile_cols):
    share = n * n / (waves(tiles(n, n, tile_rows, tile_cols), sms, 1) * sms * tile_rows * tile_cols)
    return min(share * peak, n / 3 * bandwidth)


def cliffs(first, last, sms, blocks_per_sm, tile_rows, tile_cols):
    n = np.arange(first - 1, last + 1)
    taken = -(-(-(-n // tile_rows) * -(-n // tile_cols)) // (sms * blocks_per_sm))
    return n[1:][taken[1:] > taken[:-1]]


def pitch_for(cols, itemsize, unit):
    common = itemsize * unit // gcd(itemsize, unit)
    return -(-cols * itemsize // common) * common // itemsize


@cuda.jit
def pad_rows(src, dst):
    col, row = cuda.grid(2)
    if row >= dst.shape[0] or col >= dst.shape[1]:
        return
    value = np.float32(0)
    if col < src.shape[1]:
        value = np.float32(src[row, col])
    dst[row, col] = value


def blocks_per_sm(threads, registers, shared_bytes, sm):
    most_warps, most_blocks, all_registers, unit, parts, shared, reserved, shared_unit = sm.tolist()
    warps = -(-threads // 32)
    per_warp = -(-32 * registers // unit) * unit
    bounds = [most_warps // warps, most_blocks, parts * (all_registers // parts // per_warp) // warps]
    taken = -(-(shared_bytes + reserved) // shared_unit) * shared_unit
    if taken:
        bounds.append(shared // taken)
    return min(bounds)


def best_tile(candidates, threads, step, stages, sm):
    fits = []
    for place, (rows, cols) in enumerate(candidates.tolist()):
        registers = rows * cols // threads + 40
        shared = (rows + cols) * step * 2 * stages
        if registers < 256 and blocks_per_sm(threads, registers, shared, sm):
            fits.append((-rows * cols / (rows + cols), -blocks_per_sm(threads, registers, shared, sm), place))
    if not fits:
        return 0, 0, 0
    _, blocks, place = min(fits)
    return int(candidates[place, 0]), int(candidates[place, 1]), -blocks


def explain(sizes, device):
    gains = np.ones((len(sizes), 4))
    for i, n in enumerate(sizes):
        for cause in range(4):
            on = [True] * 4
            on[cause] = False
            gains[i, cause] = seconds(int(n), device, [True] * 4) / seconds(int(n), device, on)
    causes, factors = gains.argmax(axis=1), gains.max(axis=1)
    nothing = factors <= 1 + 1e-9
    return np.where(nothing, -1, causes), np.where(nothing, 1.0, factors)
