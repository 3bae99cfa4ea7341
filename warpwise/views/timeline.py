"""What one warp did over time: its recorded events as steps, one for each stretch of instructions that it issues together.

An instruction takes an issue slot of its warp however few lanes are active. A load, a store or a branch is among the instructions of
the step that it belongs to and takes no slot beside them. Slots are counted from the source, as in ``Metrics``; how long one takes is
left out, and so are the other warps that an SM runs in between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from warpwise.metrics import WARP_SIZE
from warpwise.trace import Event, Trace

Place = tuple[tuple[int, int, int], int]  #: a warp: its block and its number there


@dataclass(frozen=True)
class Step:
    """``slots`` instructions in a row on one line under one mask, and what happened there: ``events`` of any kind but issue."""

    line: int
    slots: int
    active: int
    events: tuple[Event, ...] = ()


@dataclass(frozen=True)
class Timeline:
    """All steps of one warp, which has ``threads`` threads: fewer than 32 if it is the last of a block of another size."""

    steps: tuple[Step, ...]
    threads: int

    @property
    def slots(self) -> int:
        """Issue slots: the warp's part of ``Metrics.warp_instructions``."""
        return sum(step.slots for step in self.steps)

    @property
    def lanes(self) -> int:
        """Active lanes, summed over the slots: the warp's part of ``Metrics.thread_instructions``."""
        return sum(step.slots * step.active.bit_count() for step in self.steps)


def timelines(trace: Trace) -> dict[Place, Timeline]:
    """The warps of the recorded blocks, in the order of blocks and warps. Raises TraceError if the trace left events out."""
    x, y, z = trace.block
    events: dict[Place, list[Event]] = defaultdict(list)
    for event in trace.events:
        events[event.block, event.warp].append(event)
    order = sorted(events, key=lambda place: (place[0][::-1], place[1]))
    return {place: Timeline(tuple(_steps(events[place])), min(WARP_SIZE, x * y * z - WARP_SIZE * place[1])) for place in order}


def _steps(events: Iterable[Event]) -> list[Step]:
    """A step begins where instructions are issued, and holds what happens until the next one begins."""
    parts: list[list[Event]] = []
    for event in events:
        if event.kind == "issue" or not parts:
            parts.append([])
        parts[-1].append(event)
    return [Step(part[0].line, part[0].slots, part[0].active, tuple(e for e in part if e.kind != "issue")) for part in parts]
