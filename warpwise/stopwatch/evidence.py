"""What a trace counted, by warp and source line, in units that machine code has as well.

A *channel* is a line and a kind of work on it: bytes loaded from global memory by a lane, float32
operations, barriers. A compiler unrolls loops and merges loads, yet a line's bytes and operations
stay what they are; so by them the trips of its loops are found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import PurePath

import numpy as np

from warpwise.metrics import WARP_SIZE, Metrics
from warpwise.stopwatch.sass import Op
from warpwise.traces import KINDS, Trace

Channel = tuple[int, str]  #: a line of the trace, and a kind of work
Counts = Mapping[Channel, float]
KIND_OF_OP = {
    ("global", "load"): "global load",
    ("global", "store"): "global store",
    ("global", "atomic"): "global atomic",
    ("global", "copy"): "global load",
    ("shared", "load"): "shared load",
    ("shared", "store"): "shared store",
    ("shared", "atomic"): "shared atomic",
}
NEAR = 3  #: lines by which a compiler and the simulator may name an access differently


@dataclass(frozen=True)
class Warps:
    """Warps of a block that did the same: how many, and what each counted.

    ``between``: the most of it between two barriers."""

    numbers: tuple[int, ...]
    counts: Counts
    between: Counts = field(default_factory=dict)


def units_of(op: Op) -> tuple[str, float]:
    """Return the kind of work of an instruction, and how much of it there is for a lane."""
    if op.name == "BAR":
        return "barrier", 1
    if op.flops and op.pipe in ("fp32", "fp64"):
        return f"flops {op.pipe}", op.flops
    kind = KIND_OF_OP.get((op.space, op.access), "")
    return kind, 1 if op.access == "atomic" else op.width


def warps_of(trace: Trace) -> tuple[Warps, ...]:
    """Return the warps of the first recorded block, alike ones together.

    A trace that kept no events, or not all, says only what a warp did on average."""
    warps = -(-int(np.prod(trace.block)) // WARP_SIZE)
    rounds = _by_warp(trace, warps)
    every = {channel for own in rounds for one in own for channel in one}
    between = {channel: _at_once(channel, rounds, trace.truncated) for channel in every}
    if trace.truncated or not len(trace.records.kind):
        return (Warps(tuple(range(warps)), _average(trace, warps), between),)
    alike: dict[tuple[tuple[Channel, float], ...], list[int]] = defaultdict(list)
    for number, own in enumerate(rounds):
        counts = {channel: sum(one.get(channel, 0.0) for one in own) for channel in every}
        alike[tuple(sorted(counts.items()))].append(number)
    return tuple(Warps(tuple(numbers), dict(own), between) for own, numbers in alike.items())


def _at_once(channel: Channel, rounds: Sequence[Sequence[Counts]], truncated: bool) -> float:
    """Return the most that a warp counts between two barriers.

    Of a trace without its last rounds this is known if all that were kept count alike, and
    infinite otherwise."""
    amounts = [one.get(channel, 0.0) for own in rounds for one in (own[:-1] if truncated else own)]
    known = [amount for amount in amounts if amount]
    alike = len(known) > len(rounds) and min(known) == max(known)
    return max(known, default=0.0) if alike or not truncated else inf


def _by_warp(trace: Trace, warps: int) -> list[list[dict[Channel, float]]]:
    """Return what each warp counts up to each barrier and after the last."""
    r = trace.records
    first = r.of_first_block
    active = [np.flatnonzero(row).tolist() for row in warps_on(r.active[first])]
    found: list[list[dict[Channel, float]]] = [[defaultdict(float)] for _ in range(warps)]
    kinds, lines, arrays = r.kind[first], r.line[first], r.array[first]
    widths = r.width[first].tolist()
    rates = {line: _flops_per_slot(m) for line, m in trace.by_line.items()}
    for kind, line, array, width, slots, on in zip(
        kinds.tolist(),
        lines.tolist(),
        arrays.tolist(),
        widths,
        r.slots[first].tolist(),
        active,
        strict=True,
    ):
        space = trace.arrays[array].space if array >= 0 else ""
        for name, amount in _worth(KINDS[kind], line, space, width, slots, rates):
            for warp in on:
                found[warp][-1][line, name] += amount
        if KINDS[kind] == "barrier":
            for warp in on:
                found[warp].append(defaultdict(float))
    return found


def warps_on(active: np.ndarray) -> np.ndarray:
    """Return which warps have an active lane, by record: (records, warps of a block)."""
    warps = -(-active.shape[1] // WARP_SIZE)
    padded = np.zeros((len(active), warps * WARP_SIZE), bool)
    padded[:, : active.shape[1]] = active
    return np.asarray(padded.reshape(len(active), warps, WARP_SIZE).any(axis=2))


def _worth(
    kind: str,
    line: int,
    space: str,
    width: int,
    slots: int,
    rates: Mapping[int, Mapping[str, float]],
) -> Iterable[tuple[str, float]]:
    """Yield the kinds and amounts of work of one record, for each of its warps."""
    if kind == "barrier":
        yield "barrier", 1
    elif kind == "issue":
        for name, rate in rates.get(line, {}).items():
            yield name, rate * slots
    elif space:
        yield f"{space} {kind}", 1 if kind == "atomic" else width


def _flops_per_slot(m: Metrics) -> dict[str, float]:
    """Return the operations of a lane for each instruction slot of a line.

    None for a line with a division or a function such as ``log``, which a compiler makes many
    operations of."""
    if m.op_special:
        return {}
    slots = max(1, m.thread_instructions)
    rates = {"flops fp32": m.flops_fp32 / slots, "flops fp64": m.flops_fp64 / slots}
    return {name: rate for name, rate in rates.items() if rate}


def _average(trace: Trace, warps: int) -> Counts:
    """Return what a warp of the launch counted on average."""
    launched = warps * int(np.prod(trace.grid))
    found: dict[Channel, float] = {}
    for line, m in trace.by_line.items():
        lanes = max(1e-9, m.warp_efficiency) * WARP_SIZE
        amounts = {
            "global load": m.global_load_bytes / lanes,
            "global store": m.global_store_bytes / lanes,
            "global atomic": m.global_atomic_requests,
            "shared load": m.shared_load_bytes / lanes,
            "shared store": m.shared_store_bytes / lanes,
            "shared atomic": m.shared_atomic_requests,
            "barrier": m.barriers,
            "flops fp32": 0 if m.op_special else m.flops_fp32 / lanes,
            "flops fp64": 0 if m.op_special else m.flops_fp64 / lanes,
        }
        found |= {(line, name): n / launched for name, n in amounts.items() if n}
    return found


def lines_of(trace: Trace, ops: Sequence[Op], rename: Mapping[int, int] | None = None) -> list[int]:
    """Return the line of the trace that each instruction comes from, 0 if it names none.

    ``rename``: for machine code of another language, its lines by those of the trace."""
    if rename is not None:
        return [rename.get(op.line, 0) for op in ops]
    return _nearest(trace, ops, named_lines(trace, ops))


def named_lines(trace: Trace, ops: Sequence[Op]) -> list[int]:
    """Return the lines of the trace that instructions name, 0 for none.

    Functions of another file have numbers that the kernel's own lines have, too. Where some
    instruction names the kernel's file, those of other files are none of its lines; a cell has
    names of its own."""
    files = [PurePath(op.file).name for op in ops]
    known = trace.file in files
    return [
        _line_of(trace, op, known and file != trace.file)
        for op, file in zip(ops, files, strict=True)
    ]


def _line_of(trace: Trace, op: Op, elsewhere: bool) -> int:
    if op.line in trace.source and not elsewhere:
        return op.line
    for function in trace.functions:
        if function.elsewhere and function.first <= op.line + function.base <= function.last:
            return op.line + function.base
    return 0


def _nearest(trace: Trace, ops: Sequence[Op], lines: list[int]) -> list[int]:
    """Move accesses whose line the trace has none of to the nearest line that has.

    A compiler inlines functions of which the trace knows the line that called them."""
    known = defaultdict(set)
    for line, m in trace.by_line.items():
        for kind, n in _requests(m).items():
            if n:
                known[kind].add(line)
    moved = []
    for op, line in zip(ops, lines, strict=True):
        kind, _ = units_of(op)
        near = known.get(kind, set())
        if kind and near and line not in near:
            best = min(near, key=lambda at: abs(at - line))
            line = best if abs(best - line) <= NEAR or not line else line
        moved.append(line)
    return moved


def _requests(m: Metrics) -> dict[str, int]:
    return {
        "global load": m.global_load_requests,
        "global store": m.global_store_requests,
        "global atomic": m.global_atomic_requests,
        "shared load": m.shared_load_requests,
        "shared store": m.shared_store_requests,
        "shared atomic": m.shared_atomic_requests,
        "barrier": m.barriers,
    }
