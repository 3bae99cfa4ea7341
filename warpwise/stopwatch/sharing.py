"""What recorded blocks say about the others: who shares an array, and whether blocks are alike.

A trace keeps the events of block 0 unless asked for more. Two recorded blocks that touch the same
sectors of an array share it. Work is compared with the counters, which have all blocks: a block
that does far less or more than an average one says only what a launch takes at least."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import combinations
from math import log, prod

import numpy as np

from warpwise.metrics import SECTOR_BYTES
from warpwise.stopwatch.evidence import warps_on
from warpwise.stopwatch.families import UNKNOWN
from warpwise.traces import KINDS, Records, Trace

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


def works(trace: Trace) -> dict[int, float]:
    """Return what each recorded block does, over what an average one does, in warp instructions.

    Nothing if not all of their events were kept."""
    r, average = trace.records, trace.metrics.warp_instructions / prod(trace.grid)
    if trace.truncated or not len(r.block) or not average:
        return {}
    issues = r.kind == KINDS.index("issue")
    slots = warps_on(r.active[issues]).sum(axis=1) * r.slots[issues]
    own = {block: float(slots[r.block[issues] == block].sum()) for block in _in_order(trace)}
    return {block: amount / average for block, amount in own.items() if amount}


def _in_order(trace: Trace) -> list[int]:
    """Return the recorded blocks, in the order in which they were recorded."""
    blocks, first = np.unique(trace.records.block, return_index=True)
    return [int(blocks[i]) for i in np.argsort(first)]


def unlike(trace: Trace) -> float:
    """Return by how much more or less the first recorded block does than an average one."""
    return next(iter(works(trace).values()), 1.0) - 1


def far(trace: Trace) -> bool:
    """Whether the first recorded block is so unlike that no wide range around it holds the rest."""
    return not 1 / (1 + UNKNOWN) <= 1 + unlike(trace) <= 1 / (1 - UNKNOWN)


def most(trace: Trace) -> float:
    """Return the work of the busiest recorded block, over that of the first one: 1 or more."""
    own = list(works(trace).values())
    return max(own) / own[0] if own else 1.0


def typical_first(trace: Trace) -> Trace:
    """Return a trace whose first recorded block is the one that is most like an average one."""
    own = works(trace)
    if len(own) < 2 or abs(unlike(trace)) <= UNLIKE:
        return trace
    best, r = min(own, key=lambda block: abs(log(own[block]))), trace.records
    order = np.argsort(r.block != best, kind="stable")
    columns = {column.name: getattr(r, column.name)[order] for column in fields(r)}
    return replace(trace, records=Records(**columns))


def doubts(trace: Trace) -> tuple[str, ...]:
    """Return in words what makes the recorded block a bad witness for the others."""
    notes, own = [], works(trace)
    if far(trace):
        notes.append(_far(trace, *next(iter(own.items()))))
    else:
        block = max(own, key=lambda block: abs(own[block] - 1), default=0)
        differs = own.get(block, 1.0) - 1
        if abs(differs) > UNLIKE:
            how = f"{100 * abs(differs):.0f} % {'more' if differs > 0 else 'less'}"
            which = "the" if len(own) == 1 else "a"
            notes.append(f"{which} recorded block does {how} than an average one: a wide range")
    odd = [name for name, patterns in by_addresses(trace).items() if not patterns]
    if odd:
        shared = ", ".join(odd)
        notes.append(f"blocks share {shared} neither by rows nor by columns: a wide range")
    return tuple(notes)


def _far(trace: Trace, block: int, work: float) -> str:
    """Return in words how far a block is from an average one, and which ones to record."""
    many = f"{max(work, 1 / work):.3g} times as many warp instructions"
    if work < 1:
        how = f"an average block runs {many} as block {block}, which was recorded"
    else:
        how = f"block {block}, which was recorded, runs {many} as an average one"
    some = ", ".join(map(str, ends_and_middle(prod(trace.grid))))
    return f"{how}: only a lower bound; record=({some}) in trace(...) finds a more typical one"


def ends_and_middle(blocks: int) -> tuple[int, ...]:
    """Return the blocks to record of as many, where they may differ: first, middle and last."""
    return tuple(dict.fromkeys((0, blocks // 2, blocks - 1)))
