"""One warp over time: its recorded events as steps.

A step is a stretch of instructions that the warp issues together, on one line under one mask. An
instruction takes an issue slot of its warp however few lanes are active. A load, a store or a
branch is among the instructions of the step that it belongs to and takes no slot beside them. Slots
are counted from the source, as in ``Metrics``; how long one takes is left out, and so are the other
warps that an SM runs in between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from warpwise.metrics import WARP_SIZE
from warpwise.traces import Event, Trace

Place = tuple[tuple[int, int, int], int]  #: a warp: its block and its number there


@dataclass(frozen=True)
class Step:
    """``slots`` instructions in a row on one line under one mask, and the events among them.

    ``events`` are of any kind but issue."""

    line: int
    slots: int
    active: int
    events: tuple[Event, ...] = ()


@dataclass(frozen=True)
class Timeline:
    """All steps of one warp of ``threads`` threads.

    The last warp of a block whose size is no multiple of 32 has fewer than 32."""

    steps: tuple[Step, ...]
    threads: int

    @property
    def slots(self) -> int:
        """Issue slots: the warp's part of ``Metrics.warp_instructions``."""
        return sum(step.slots for step in self.steps)

    @property
    def lanes(self) -> int:
        """Active lanes over all slots: the warp's part of ``Metrics.thread_instructions``."""
        return sum(step.slots * step.active.bit_count() for step in self.steps)


def timelines(trace: Trace) -> dict[Place, Timeline]:
    """Return the warps of the recorded blocks, in the order of blocks and warps.

    Raises TraceError if the trace left events out."""
    x, y, z = trace.block
    events: dict[Place, list[Event]] = defaultdict(list)
    for event in trace.events:
        events[event.block, event.warp].append(event)

    def made(place: Place) -> Timeline:
        threads = min(WARP_SIZE, x * y * z - WARP_SIZE * place[1])
        return Timeline(tuple(_steps(events[place])), threads)

    order = sorted(events, key=lambda place: (place[0][::-1], place[1]))
    return {place: made(place) for place in order}


def _steps(events: Iterable[Event]) -> list[Step]:
    """Split events where instructions are issued: a step holds what happens until the next one."""
    parts: list[list[Event]] = []
    for event in events:
        if event.kind == "issue" or not parts:
            parts.append([])
        parts[-1].append(event)
    return [_step(part) for part in parts]


def _step(part: list[Event]) -> Step:
    first = part[0]
    others = tuple(event for event in part if event.kind != "issue")
    return Step(first.line, first.slots, first.active, others)
