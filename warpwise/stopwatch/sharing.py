"""What recorded blocks say about the others: who shares an array, and whether blocks are alike.

A trace keeps the events of block 0 unless asked for more. Two recorded blocks that touch the same
sectors of an array share it. Work is compared with the counters, which have all blocks."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np

from warpwise.metrics import SECTOR_BYTES
from warpwise.stopwatch.evidence import warps_on
from warpwise.traces import KINDS, Trace

PATTERNS = ("none", "row", "column", "all")
OVERLAP = 0.5  #: share of the smaller block's sectors from which two blocks share an array
UNLIKE = 0.1  #: share by which the recorded block may do more or less than the average one


def by_addresses(trace: Trace) -> dict[str, tuple[str, ...]]:
    """Return for each global array the patterns of sharing that fit all recorded pairs of blocks.

    No array if fewer than two blocks were recorded; no pattern if blocks share in another way."""
    r = trace.records
    blocks = np.unique(r.block).tolist()
    if len(blocks) < 2:
        return {}
    found = {}
    for number, info in enumerate(trace.arrays):
        if info.space == "global":
            sectors = {b: _touched(trace, b, number) for b in blocks}
            pairs = [(a, b, _overlap(sectors[a], sectors[b])) for a, b in combinations(blocks, 2)]
            known = [pair for pair in pairs if pair[2] is not None]
            found[info.name] = tuple(p for p in PATTERNS if known and _fits(p, known, trace.grid))
    return found


def _touched(trace: Trace, block: int, array: int) -> np.ndarray:
    """Return the numbers of the sectors that a block touches, each once."""
    r = trace.records
    addresses = r.addresses[(r.block == block) & (r.array == array)]
    return np.unique(addresses[addresses >= 0] // SECTOR_BYTES)


def _overlap(a: np.ndarray, b: np.ndarray) -> bool | None:
    """Return whether two blocks share what they touch, None if one of them touches nothing."""
    least = min(len(a), len(b))
    return len(np.intersect1d(a, b)) > OVERLAP * least if least else None


def _fits(
    pattern: str, pairs: list[tuple[int, int, bool | None]], grid: tuple[int, int, int]
) -> bool:
    return all(_together(pattern, a, b, grid) == shared for a, b, shared in pairs)


def _together(pattern: str, a: int, b: int, grid: tuple[int, int, int]) -> bool:
    """Return whether two blocks, by their linear numbers, share in a pattern."""
    across, of_layer = grid[0], grid[0] * grid[1]
    if pattern == "row":
        return a // across == b // across
    if pattern == "column":
        return (a % across, a // of_layer) == (b % across, b // of_layer)
    return pattern == "all"


def unlike(trace: Trace) -> float:
    """Return by how much more or less the recorded block does than an average one, as a share.

    Judged by warp instructions. 0 if not all of its events were kept."""
    r = trace.records
    if trace.truncated or not len(r.block):
        return 0.0
    first = r.of_first_block & (r.kind == KINDS.index("issue"))
    own = float(np.dot(warps_on(r.active[first]).sum(axis=1), r.slots[first]))
    average = trace.metrics.warp_instructions / prod(trace.grid)
    return own / average - 1 if average and own else 0.0


def doubts(trace: Trace) -> tuple[str, ...]:
    """Return in words what makes the recorded block a bad witness for the others."""
    notes, differs = [], unlike(trace)
    if abs(differs) > UNLIKE:
        how = f"{100 * abs(differs):.0f} % {'more' if differs > 0 else 'less'}"
        notes.append(f"the recorded block does {how} than an average one: a wide range")
    odd = [name for name, patterns in by_addresses(trace).items() if not patterns]
    if odd:
        shared = ", ".join(odd)
        notes.append(f"blocks share {shared} neither by rows nor by columns: a wide range")
    return tuple(notes)
