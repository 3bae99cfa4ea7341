"""Which sectors L1 has: the recorded loads of a block run through a cache.

Lines of 128 bytes with four sectors of 32, four ways, least recently used: te42kyfo/gpu-benches,
gpu-cache and gpu-strides, show capacity, lines and sectors; the ways are assumed."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from warpwise.metrics import SECTOR_BYTES, WARP_SIZE
from warpwise.stopwatch.accesses import LINE_BYTES
from warpwise.stopwatch.engine import compiled
from warpwise.traces import KINDS, Trace

# mypy: allow-untyped-defs
WAYS = 4
MOST_RECORDS = 3000  #: of loads that L1 is tried on; a long loop repeats itself


@compiled
def misses(lines, masks, sets, ways):
    """Return how many sectors of each request miss a cache of lines of four sectors.

    ``lines``, ``masks``: the lines that the requests touch in turn, and their sectors as bits."""
    tags = np.full((sets, ways), -1, np.int64)
    kept = np.zeros((sets, ways), np.int64)
    used = np.zeros((sets, ways), np.int64)
    missed = np.zeros(len(lines), np.int64)
    for i in range(len(lines)):
        row, way = lines[i] % sets, 0
        found = False
        for w in range(ways):
            if tags[row, w] == lines[i]:
                way, found = w, True
        if not found:
            for w in range(ways):
                if used[row, w] < used[row, way]:
                    way = w
            tags[row, way], kept[row, way] = lines[i], 0
        new = masks[i] & ~kept[row, way]
        while new:
            missed[i] += new & 1
            new >>= 1
        kept[row, way] |= masks[i]
        used[row, way] = i + 1
    return missed


def l1_miss_shares(trace: Trace, l1_bytes: int) -> dict[int, float]:
    """Return for each line the share of its global loads' sectors that L1 does not have."""
    r = trace.records
    found = np.flatnonzero((r.kind == KINDS.index("load")) & of_global(trace))[:MOST_RECORDS]
    lines, masks, owners = _touched(r.addresses[found], r.line[found])
    sets = max(1, l1_bytes // (LINE_BYTES * WAYS))
    missed = misses(lines, masks, sets, WAYS) if len(lines) else lines
    total: dict[int, int] = defaultdict(int)
    lost: dict[int, int] = defaultdict(int)
    for owner, mask, miss in zip(owners.tolist(), masks.tolist(), missed.tolist(), strict=True):
        total[owner] += mask.bit_count()
        lost[owner] += miss
    return {line: lost[line] / total[line] for line in total if total[line]}


def of_global(trace: Trace) -> np.ndarray:
    """Return for each record whether it is an access of global memory."""
    spaces = np.array([info.space == "global" for info in trace.arrays] + [False])
    found: np.ndarray = spaces[trace.records.array]
    return found


def _touched(addresses: np.ndarray, owners: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the lines that requests of warps touch in order, the sectors as bits, and whose."""
    rows, lanes = np.nonzero(addresses >= 0)
    touched = addresses[rows, lanes]
    lines, bits = touched // LINE_BYTES, np.left_shift(1, touched % LINE_BYTES // SECTOR_BYTES)
    warps = rows * -(-addresses.shape[1] // WARP_SIZE) + lanes // WARP_SIZE
    order = np.lexsort((lines, warps))
    lines, bits, warps, rows = lines[order], bits[order], warps[order], rows[order]
    new = np.concatenate([[True], (np.diff(lines) != 0) | (np.diff(warps) != 0)])
    starts = np.flatnonzero(new[: len(lines)])
    masks = np.bitwise_or.reduceat(bits, starts) if len(starts) else bits
    return lines[starts].astype(np.int64), masks.astype(np.int64), owners[rows[starts]]
