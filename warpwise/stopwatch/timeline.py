"""What the warps of one SM do, clock by clock, in a window of a launch.

A second, shorter run of the engine keeps it, from the middle of a launch, where as many blocks are
resident as fit."""

from __future__ import annotations

from math import ceil

import numpy as np

from warpwise.stopwatch import engine
from warpwise.stopwatch.cards import Card
from warpwise.stopwatch.film import Timeline
from warpwise.stopwatch.predict import START_CLOCKS, Run
from warpwise.stopwatch.program import Program
from warpwise.stopwatch.walk import KEPT
from warpwise.traces import Trace

CLOCKS = 960  #: that a timeline keeps
ROUNDS = 3  #: of blocks that the run has: the window lies in the second, if there is one


def timeline(trace: Trace, program: Program, card: Card, run: Run) -> Timeline:
    """Run a few blocks of a launch once more, and keep what their warps do for a while."""
    slots = min(run.slots, ceil(run.blocks_per_sm))
    first, did, seen = watched(program, card, run, slots, CLOCKS)
    last = 1 + int(np.flatnonzero((did != engine.ABSENT).any(axis=0))[-1])
    return Timeline(
        first,
        did[:, :last],
        (seen[:, :last] % len(program.ops)).astype(np.int16),
        tuple(op.name for op in program.ops),
        program.lines,
        {line: _place(trace, line) for line in set(program.lines)},
    )


def watched(
    program: Program, card: Card, run: Run, slots: int, clocks: int
) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the first clock of a window, and what warps do in it, with which instruction."""
    kinds = program.kinds_of_warps
    streams, lengths = program.streams(KEPT[1] if program.loop is not None else 0)
    blocks = min(ceil(run.blocks_per_sm), ROUNDS * slots)
    shape = slots * len(kinds), clocks
    did, seen = np.full(shape, engine.ABSENT, np.int8), np.zeros(shape, np.int32)
    first = max(0, _middle(program, run, lengths, slots) - clocks // 2)
    while (did == engine.ABSENT).all():
        engine.watch(
            *run.columns.all(), streams, lengths, kinds, slots, blocks,
            np.array(run.model.sm.latencies), np.array(run.rates),
            card.start_clocks or START_CLOCKS, card.core.two_float_pipes, did, seen, float(first),
        )  # fmt: skip
        first, looked = first // 2, first  # a run that has ended before is looked at earlier
    return looked, did, seen


def _middle(program: Program, run: Run, lengths: np.ndarray, slots: int) -> int:
    """Return the clock in the middle of the second round of blocks, or of the only one.

    Walks that are shortened take a part of the time."""
    kinds = program.kinds_of_warps
    kept = lengths[kinds].sum() / max(1.0, program.executions.sum())
    rounds = max(1.0, run.blocks_per_sm / slots)
    return int(run.clocks / rounds * min(1.0, kept) * (1.5 if rounds >= 2 else 0.5))


def _place(trace: Trace, line: int) -> tuple[str, str]:
    """Return a line in words and its text; both are empty for code that belongs to no line."""
    return (trace.place(line), trace.source.get(line, "").strip()) if line else ("", "")
