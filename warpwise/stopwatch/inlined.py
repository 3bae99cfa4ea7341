"""Functions that machine code does not name: what they did belongs to the lines that call them.

The simulator runs some intrinsics, such as the rounding to bfloat16, as functions of plain Python
whose lines no instruction names. Here a trace's records and counters of such lines go to the
calling line: that which the block was at last. Where records end before the block does, the
counters of the calling line say how often it calls in all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from warpwise.metrics import FIELDS, Metrics
from warpwise.stopwatch.evidence import warps_on
from warpwise.traces import KINDS, Function, Trace, reached_from

ISSUE = KINDS.index("issue")
ACCESSES = tuple(
    f"{space}_{kind}" for space in ("global", "shared") for kind in ("load", "store", "atomic")
)
Callers = Mapping[int, tuple[int, ...]]  #: of a line in a lost function, the lines that call it
Shares = dict[str, dict[int, float]]  #: of an access, or "" for all else, each caller's part


def inlined(trace: Trace, named: Sequence[int]) -> Trace:
    """Return a trace without lines of functions of which machine code names none.

    ``named``: the lines of the trace that its instructions name."""
    lost = [f for f in trace.functions if not any(f.first <= n <= f.last for n in named)]
    if not lost:
        return trace
    inside = {n for f in lost for n in range(f.first, f.last + 1)}
    callers = {n: reached_from(n, lost) for n in inside}
    lines = _called_from(trace, callers)
    by_line = _moved(trace, callers, lines)
    records = replace(trace.records, line=lines)
    return replace(trace, records=records, by_line=by_line, functions=_others(trace, lost))


def _others(trace: Trace, lost: Sequence[Function]) -> tuple[Function, ...]:
    return tuple(f for f in trace.functions if f not in lost)


def _called_from(trace: Trace, callers: Callers) -> np.ndarray:
    """Return the line of each record: where it is in a lost function, the one that called it."""
    last: dict[int, list[int]] = defaultdict(list)  # of each block, the lines it was at
    lines = trace.records.line.copy()
    for i, (block, line) in enumerate(
        zip(trace.records.block.tolist(), lines.tolist(), strict=True)
    ):
        if line in callers:
            line = _latest(last[block], callers[line])
        lines[i] = line
        last[block] = [*(n for n in last[block] if n != line), line]
    return lines


def _latest(lines: Sequence[int], of: tuple[int, ...]) -> int:
    """Return the line among ``of`` that comes last in ``lines``, or the first of them."""
    return next((line for line in reversed(lines) if line in of), of[0])


def _moved(trace: Trace, callers: Callers, lines: np.ndarray) -> dict[int, Metrics]:
    """Return the counters by line, those of lost functions shared as their records are."""
    found = {n: m for n, m in trace.by_line.items() if n not in callers}
    weights = _weights(trace, lines)
    for line, metrics in trace.by_line.items():
        if line in callers:
            shares = _shares(trace, line, callers[line], lines, weights)
            for caller in {n for of_kind in shares.values() for n in of_kind}:
                found[caller] = found.get(caller, Metrics()) + _part(metrics, shares, caller)
    return dict(sorted(found.items()))


def _weights(trace: Trace, lines: np.ndarray) -> np.ndarray:
    """Return for how many each record stands: the work of its line over what was recorded of it.

    A line that counts no work of its own runs as often as the one before it in its function."""
    r, work = trace.records, defaultdict[int, float](float)
    own = (r.kind == ISSUE) & (r.line == lines)
    amounts = r.slots[own] * warps_on(r.active[own]).sum(axis=1)
    for line, amount in zip(lines[own].tolist(), amounts.tolist(), strict=True):
        work[line] += amount
    counted = {n: m.warp_instructions for n, m in trace.by_line.items()}
    times = {n: counted[n] / amount for n, amount in work.items() if amount and counted.get(n)}
    found, latest = np.ones(len(lines)), dict[Function | None, float]()
    for i, line in enumerate(lines.tolist()):
        within = next((f for f in trace.functions if f.first <= line <= f.last), None)
        found[i] = latest[within] = times.get(line, latest.get(within, 1.0))
    return found


def _shares(
    trace: Trace, line: int, calling: Sequence[int], lines: np.ndarray, weights: np.ndarray
) -> Shares:
    """Return the parts that callers have in a line's accesses, and in all else that it counts.

    What is not recorded at all is shared by those of whom nothing is."""
    found: Shares = {name: defaultdict(float) for name in ("", *ACCESSES)}
    rows = np.flatnonzero(trace.records.line == line).tolist()
    for i in rows:
        found[_kind(trace, i)][int(lines[i])] += float(weights[i])
    unseen = sorted(set(calling) - set(lines[rows].tolist())) or calling
    return {name: _of_one(parts or dict.fromkeys(unseen, 1.0)) for name, parts in found.items()}


def _kind(trace: Trace, i: int) -> str:
    """Return one of ACCESSES, or "" for a record that is none."""
    r = trace.records
    name = f"{trace.arrays[r.array[i]].space}_{KINDS[r.kind[i]]}" if r.array[i] >= 0 else ""
    return name if name in ACCESSES else ""


def _of_one(parts: Mapping[int, float]) -> dict[int, float]:
    total = sum(parts.values())
    return {n: part / total for n, part in parts.items()}


def _part(metrics: Metrics, shares: Shares, caller: int) -> Metrics:
    """Return the counters that are one caller's."""
    found = {}
    for name in FIELDS:
        kind = next((kind for kind in ACCESSES if name.startswith(kind)), "")
        found[name] = _rounded(getattr(metrics, name), shares[kind].get(caller, 0.0))
    return Metrics.of(found)


def _rounded(count: int | tuple[int, ...], share: float) -> int | tuple[int, ...]:
    if isinstance(count, tuple):
        return tuple(round(share * n) for n in count)
    return round(share * count)
