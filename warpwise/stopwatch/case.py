"""A predicted launch as changes look at it: what costs how much, and how to run it changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from warpwise.stopwatch.cards import Card
from warpwise.stopwatch.predict import Model, Run
from warpwise.stopwatch.program import Program
from warpwise.stopwatch.resources import uses_of_sm
from warpwise.stopwatch.sass import Op
from warpwise.stopwatch.tables import Columns
from warpwise.stopwatch.walks import Walks
from warpwise.traces import Trace

MOST_LINES = 3  #: that a change names
WORTH_NAMING = 0.1  #: share of what a change is about, from which a line is named


@dataclass(frozen=True)
class Change:
    """A change to a kernel, in words that follow "with", and the launch as it would run.

    ``lines``: of the trace, those which the change is about, the costliest first."""

    words: str
    lines: tuple[int, ...]
    model: Model
    how: str = ""  #: in a few words, as one is asked to


@dataclass(frozen=True)
class Case:
    """A launch that was predicted, and how busy each resource was: shares of the time."""

    trace: Trace
    program: Program
    card: Card
    run: Run
    busy: dict[str, float]
    waits: dict[str, float]  #: causes of waiting, by their part of all waiting
    known: dict[Any, Any] = field(default_factory=dict)  #: what was worked out before

    @property
    def ops(self) -> tuple[Op, ...]:
        return self.program.ops

    @property
    def table(self) -> Columns:
        return self.run.columns

    @property
    def times(self) -> np.ndarray:
        """How often a block's warps together run each instruction, without those turned off."""
        found: np.ndarray = self.program.executions[: len(self.ops)]
        return found

    def once(self, key: Hashable, work: Callable[[], Any]) -> Any:
        """Return what some work gives, which is done when it is first asked for."""
        if key not in self.known:
            self.known[key] = work()
        return self.known[key]

    def numbers(self, *accesses: str, space: str = "") -> list[int]:
        """Return the instructions that run, with an access of these kinds in a space."""
        return [
            i
            for i, op in enumerate(self.ops)
            if op.access in accesses and op.space == space and self.times[i] > 0
        ]

    def lines(self, weights: np.ndarray) -> tuple[int, ...]:
        """Return the lines with the largest sums of some weights of instructions."""
        total: dict[int, float] = defaultdict(float)
        for line, weight in zip(self.program.lines, weights[: len(self.ops)].tolist(), strict=True):
            if line:
                total[line] += weight
        least = WORTH_NAMING * sum(total.values())
        named = sorted(total, key=lambda line: -total[line])[:MOST_LINES]
        return tuple(line for line in named if total[line] > least)

    def spent(self, clocks: np.ndarray) -> float:
        """Return the share of the time that clocks of an SM, by instruction, would take."""
        n = len(self.ops)
        total = float((clocks[:n] * self.times).sum())
        return self.run.blocks_per_sm * total / self.run.clocks

    def changed(self, walks: Walks | None = None, **columns: np.ndarray) -> Model:
        """Return the launch with other columns of its instructions, or other walks."""
        table = replace(self.table, **columns) if columns else self.table
        return self.with_sm(table=table, walks=walks)

    def after(self, change: Change) -> Case:
        """Return the case that a change makes, to be changed again."""
        sm, clocks = change.model.sm, change.model.clocks()
        uses = uses_of_sm(sm.table, sm.executions, sm.rates, self.card)
        per_sm = change.model.busy_sm
        busy = {name: min(1.0, per_sm * float(use.sum()) / clocks) for name, use in uses.items()}
        run = replace(self.run, clocks=clocks, columns=sm.table, model=change.model)
        return replace(self, run=run, busy=busy, known={})

    def with_sm(self, **parts: Any) -> Model:
        """Return the launch with other parts of its SM."""
        model = self.run.model
        return replace(model, sm=replace(model.sm, stalls=0.0, **parts))
