"""From a run of the engine to an Estimate: how busy each resource was, and who used it."""

from __future__ import annotations

from collections import defaultdict
from math import prod

import numpy as np

from warpwise.stopwatch import engine
from warpwise.stopwatch.cards import Card
from warpwise.stopwatch.estimate import CAUSES, Estimate, Share
from warpwise.stopwatch.families import UNKNOWN, nearest
from warpwise.stopwatch.opcodes import PIPE_WORDS
from warpwise.stopwatch.predict import LAUNCH_SECONDS, Run
from warpwise.stopwatch.program import Program
from warpwise.traces import Trace

BUSY = 0.6  #: a resource that is busy for less of the time does not bind: latency does
MOST_SHARES = 5
#: Share of a line's counted work above which a note says that it is not explained. Without a loop
#: that does no harm: a compiler leaves out loads that it has made before.
MISSED = 0.1

Uses = dict[str, np.ndarray]  #: clocks of one SM by instruction, for each resource


def estimate(
    trace: Trace, program: Program, card: Card, grid: tuple[int, int, int], run: Run
) -> Estimate:
    """Gather what a run says."""
    seconds = run.clocks / (1e9 * card.ghz) + LAUNCH_SECONDS
    uses = _uses(program, card, run)
    busy = {
        name: min(1.0, float(run.blocks_per_sm * use.sum() / run.clocks))
        for name, use in uses.items()
    }
    binds = max(busy, key=busy.__getitem__)
    binds = binds if busy[binds] >= BUSY else "latency"
    notes, doubt = _doubts(program)
    family = None if doubt else nearest(binds)
    error = family.mean if family else UNKNOWN
    by_instruction = uses.get(binds, run.stalls[:, : engine.START].sum(axis=1))
    blocks = prod(grid)
    sectors = run.columns.dram * program.executions
    return Estimate(
        kernel=trace.kernel,
        device=card.name,
        grid=grid,
        seconds=seconds,
        low=seconds * (1 - error),
        high=seconds * (1 + error),
        binds=binds,
        pipes=_largest(busy),
        lines=_lines(trace, program, by_instruction),
        waits=_waits(run),
        family=str(family or ""),
        flops=trace.metrics.flops / prod(trace.grid) * blocks,
        dram_bytes=32.0 * float(sectors.sum()) * blocks,
        notes=notes,
    )


def _uses(program: Program, card: Card, run: Run) -> Uses:
    """Return the clocks of one SM that a block's instructions take of each resource."""
    table, times = run.columns, program.executions
    held = table.clocks * times
    kinds = {name: table.kind == number for number, name in enumerate(PIPE_WORDS)}
    floats = kinds["fp32"] | kinds["imad"]
    found: Uses = {
        "issue slots": times / engine.PARTS,
        PIPE_WORDS["fp32"]: np.where(floats, held, 0) / _float_pipes(card),
        PIPE_WORDS["fp64"]: np.where(kinds["fp64"], held, 0),
        "L2": np.maximum(table.sectors, 0) * times * run.rates[0],
        "DRAM": table.dram * times * run.rates[1],
    }
    for name in ("alu", "special", "tensor"):
        found[PIPE_WORDS[name]] = np.where(kinds[name], held, 0) / engine.PARTS
    lsu = table.lsu * times
    shared = table.sectors < 0
    of_shared, of_l1 = np.where(shared, lsu, 0), np.where(shared, 0, lsu)
    # one port: whoever uses more of it gives it the name
    found["shared memory" if of_shared.sum() >= of_l1.sum() else "L1"] = lsu
    return found


def _float_pipes(card: Card) -> int:
    return engine.PARTS * (2 if card.core.two_float_pipes else 1)


def _lines(trace: Trace, program: Program, by_instruction: np.ndarray) -> tuple[Share, ...]:
    """Return the source lines by their part."""
    n, total = len(program.ops), by_instruction.sum()
    parts: dict[int, float] = defaultdict(float)
    for i, amount in enumerate((by_instruction[:n] + by_instruction[n:]).tolist()):
        parts[program.lines[i]] += amount / total if total else 0.0
    named = sorted(parts.items(), key=lambda item: -item[1])[:MOST_SHARES]
    return tuple(
        Share(trace.place(line), float(part), trace.source.get(line, "").strip())
        for line, part in named
        if part > 0.005
    )


def _waits(run: Run) -> tuple[Share, ...]:
    by_cause = run.stalls.sum(axis=0)[: engine.START]
    total = by_cause.sum() or 1.0
    return _largest(dict(zip(CAUSES, (by_cause / total).tolist(), strict=False)))


def _largest(shares: dict[str, float]) -> tuple[Share, ...]:
    named = sorted(shares.items(), key=lambda item: -item[1])[:MOST_SHARES]
    return tuple(Share(name, float(part)) for name, part in named if part > 0.005)


def _doubts(program: Program) -> tuple[tuple[str, ...], bool]:
    """Return what makes an estimate doubtful, in words, and whether anything does."""
    notes = []
    if program.unknown:
        notes.append(f"opcodes that are not known: {', '.join(program.unknown)}")
    if any(op.pipe == "tensor" for op in program.ops):
        notes.append("no published time checks the model's tensor cores: a wide range")
    if any(op.access == "atomic" for op in program.ops):
        notes.append("atomics are modelled roughly: a wide range")
    if program.missed > MISSED and program.repeats:
        notes.append(
            f"the compiler's code does {100 * program.missed:.0f} % more or less on a line "
            "than the trace counted: a wide range"
        )
    return tuple(notes), bool(notes)
