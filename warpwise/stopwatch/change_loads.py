"""Changes to how often a kernel loads: 16 bytes at a time, or from a copy in shared memory."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod

import numpy as np

from warpwise.metrics import SECTOR_BYTES
from warpwise.stopwatch import engine
from warpwise.stopwatch.accesses import clocks
from warpwise.stopwatch.case import Case, Change
from warpwise.stopwatch.change_accesses import REGULAR, WORTH_A_RUN, ideal_of, mean
from warpwise.stopwatch.dataflow import only_for_addresses
from warpwise.stopwatch.walks import without
from warpwise.traces import KINDS

OFTEN = 3.0  #: lanes of a block that load an element, from which it is worth keeping
SAMPLES = 64  #: records of loads that are looked at
WIDE = 16
FILLED_AT_ONCE = 16  #: bytes for each thread that a block loads before it meets at a barrier
_PLACE = re.compile(r"\[(?P<base>[^\[\]]*?)(?:\+(?P<offset>0x[0-9a-f]+))?\](?=[^\[\]]*$)")


def wide(case: Case) -> Iterator[Change]:
    """Yield loads from shared memory with 16 bytes at a time where a thread's are neighbours."""
    followers: list[int] = []
    lsu, results = case.table.lsu.copy(), case.table.results.copy()
    for group in _neighbours(case):
        line = case.program.lines[group[0]]
        found = case.once(("along", line), partial(_along, case, line, "shared"))
        if not found:
            continue
        lsu[group[0]] = mean([clocks(a, WIDE, "shared", case.card.core) for a, _ in found])
        loaded = [r for i in group for r in case.ops[i].results]
        results[group[0], : len(loaded)] = loaded
        followers += group[1:]
    gone = np.array(followers, int)
    saved = case.table.lsu - lsu
    saved[gone] = case.table.lsu[gone]
    if len(gone) and case.spent(saved) >= WORTH_A_RUN:
        lines = case.lines(np.maximum(saved[: len(case.ops)], 0) * case.times)
        model = case.changed(without(case.program, gone), lsu=lsu, results=results)
        how = "load a thread's four neighbours at once, from an address that 16 divides"
        words = "16-byte loads from shared memory, each in place of four"
        yield Change(words, lines, model, how)


def _neighbours(case: Case) -> Iterator[list[int]]:
    """Yield four loads at a time of 4 bytes, side by side in one block of the machine code."""
    for block in case.program.flow.blocks:
        found: dict[tuple[str, str, int], dict[int, int]] = defaultdict(dict)
        version: Counter[int] = Counter()
        for i in block:
            op = case.ops[i]
            place = _PLACE.search(op.text)
            if op.access == "load" and op.space == "shared" and op.width == 4 and place:
                key = op.guard, place["base"], sum(version[r] for r in op.operands)
                found[key][int(place["offset"] or "0", 16)] = i
            version.update(op.results)
        for places in found.values():
            yield from _fours(places)


def _fours(places: dict[int, int]) -> Iterator[list[int]]:
    for offset in sorted(places):
        group = [places.get(offset + 4 * k) for k in range(4)]
        if offset % WIDE == 0 and None not in group:
            yield sorted(i for i in group if i is not None)


def _along(case: Case, line: int, space: str) -> list[tuple[tuple[int, ...], str]]:
    """Return the recorded loads of a line from arrays in which a thread goes from one element to
    the next, if a warp's lanes are multiples of 16 bytes apart there."""
    found = case.run.costs.requests.get((line, space, "load"), [])
    arrays = {name for _, name in found if _goes_along(case, line, name)}
    return [
        (addresses, name)
        for addresses, name in found
        if name in arrays and len({a % WIDE for a in addresses if a >= 0}) == 1
    ]


def _goes_along(case: Case, line: int, array: str) -> bool:
    """Return whether most loads of a line are one element on from the ones before."""
    r = case.trace.records
    number = [info.name for info in case.trace.arrays].index(array)
    rows = (r.array == number) & (r.line == line) & (r.kind == KINDS.index("load"))
    addresses = r.addresses[np.flatnonzero(rows)[:SAMPLES]]
    steps = np.diff(addresses, axis=0)[(addresses[1:] >= 0) & (addresses[:-1] >= 0)]
    size = case.trace.arrays[number].itemsize
    return bool(len(steps)) and float((steps == size).mean()) >= REGULAR


def kept_in_shared_memory(case: Case) -> Iterator[Change]:
    """Yield what a block loads again and again from global memory in shared memory."""
    lsu, l2, dram = (a.copy() for a in (case.table.lsu, case.table.sectors, case.table.dram))
    answer, costs = case.table.answer.copy(), case.run.costs
    filled, moved = 0.0, []
    often = _worth_keeping(case)
    for i in case.numbers("load", space="global"):
        op, line = case.ops[i], case.program.lines[i]
        found = costs.requests.get((line, "global", "load"), [])
        now = ideal_of(case, op, line)
        if not now or now.wasteful or not all(array in often for _, array in found):
            continue
        lsu[i], answer[i] = now.in_shared_memory, engine.SHORT
        l2[i], dram[i] = -1.0, 0.0
        moved.append(i)
        filled += case.times[i]
    if not moved:
        return
    arrays = {a for i in moved for _, a in costs.requests[case.program.lines[i], "global", "load"]}
    fill = sum(costs.uses[a].loaded / SECTOR_BYTES for a in arrays)
    lsu[moved] += 2 * fill / 4 / filled  # a request for four sectors, and one to store them
    n, rates = len(case.ops), case.run.rates
    before = float((case.table.dram[:n] * case.times)[moved].sum())
    weights = np.zeros(n)
    weights[moved] = case.table.lsu[moved] * case.times[moved]
    gone = only_for_addresses(case.program.flow, set(moved)) | _merged(case, moved)
    walks = without(case.program, np.array(sorted(gone), int))
    model = case.changed(walks, lsu=lsu, sectors=l2, dram=dram, answer=answer)
    times = _times(min(often[a] for a in arrays), max(often[a] for a in arrays))
    words = f"a copy in shared memory of what threads of a block load {times}"
    phases = fill * SECTOR_BYTES / (FILLED_AT_ONCE * prod(case.trace.block))
    wait = phases * (model.sm.latencies[-1] + 2 * engine.BARRIER_CLOCKS) / case.run.slots
    filled_too = replace(
        model, fill=(fill * rates[0], min(fill, before) * rates[1]), wait=model.busy_sm * wait
    )
    how = "let all threads copy a tile side by side, wait at a barrier, and read it there"
    yield Change(words, case.lines(weights), filled_too, how)


def _merged(case: Case, loads: Sequence[int]) -> set[int]:
    """Return loads that would be one with their neighbours, for a thread goes along a row."""
    gone: set[int] = set()
    for line in {case.program.lines[i] for i in loads}:
        every = case.run.costs.requests[line, "global", "load"]
        share = len(_along(case, line, "global")) / len(every) * (1 - 4 / WIDE)
        own = [i for i in loads if case.program.lines[i] == line and case.ops[i].width == 4]
        gone |= {i for k, i in enumerate(own) if int((k + 1) * share) > int(k * share)}
    return gone


def _times(least: float, most: float) -> str:
    low, high = round(least), round(most)
    return f"{low} times" if low == high else f"{low} to {high} times"


@dataclass(frozen=True)
class _Reuse:
    """How many lanes load each element: of a block in all, and at one time. ``bytes``: of all."""

    in_all: float
    at_once: float
    bytes: int


def _reuse(case: Case, array: int) -> _Reuse:
    """Return how a block's loads use an array again."""
    r = case.trace.records
    rows = np.flatnonzero((r.array == array) & (r.kind == KINDS.index("load")))
    width = int(r.width[rows].max(initial=0))
    loaded = r.addresses[rows]
    lanes, every = int((loaded >= 0).sum()), len(np.unique(loaded[loaded >= 0]))
    some = loaded[:: len(rows) // SAMPLES | 1]
    different = sum(len(np.unique(row[row >= 0])) for row in some)
    return _Reuse(lanes / max(1, every), int((some >= 0).sum()) / max(1, different), every * width)


def _worth_keeping(case: Case) -> dict[str, float]:
    """Return how often elements of arrays are loaded that shared memory could hold.

    Those that many threads load together, tile by tile; others if all of them fit."""
    found, room = {}, case.card.device.sm.shared_bytes // max(1, case.run.slots) // 2
    for number, info in enumerate(case.trace.arrays):
        reuse = _reuse(case, number) if info.space == "global" else None
        if reuse and reuse.at_once >= OFTEN:
            found[info.name] = reuse.at_once
        elif reuse and reuse.in_all >= OFTEN - 1 and reuse.bytes <= room:
            found[info.name] = reuse.in_all
    return found
