"""Where the picture of a verdict opens: at the line, the warp and the block that it speaks of.

The verdict's message names them: a race its two accesses, a wrong result its first wrong element,
a budget the line that has most of the counter. Which thread wrote an element is found by running
the launch again with an observer. A trace keeps the events of its first block only; where another
block is meant, the launch is run once more and that block's events are kept. A place that cannot be
found is left open: the picture then opens where it opens by itself. Of a launch that a mistake
ended, such as an index out of bounds, the picture shows the thread's warp up to there (``until``).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from warpwise import trace
from warpwise.errors import LaunchError, TraceError, WarpwiseError
from warpwise.labs.blame import blamed_line
from warpwise.labs.budgets import OF_THE_COMPILER
from warpwise.labs.exercise import Launch, Reason, Verdict, fresh
from warpwise.labs.judge import MAX_STEPS
from warpwise.labs.until import until_mistake
from warpwise.messages import Element, Message
from warpwise.metrics import WARP_SIZE
from warpwise.simt.machine.observer import Observer, Request
from warpwise.traces import KINDS, Trace, linear, unlinear

Index = tuple[int, int, int]
#: counters of lanes, whose waste a picture of warps over time shows
LANES = ("warp_efficiency", "divergent_branches")


@dataclass(frozen=True)
class Place:
    """What a picture opens on; ``kind``: of requests, "load" or "store". None where not known."""

    line: int | None = None
    kind: str | None = None
    block: Index | None = None
    warp: int | None = None
    space: str = "global"


def usual(place: Place, reason: str) -> ModuleType:
    """Return the view for a verdict whose check names none: what shows its reason best."""
    from warpwise.views import banks, burst, divergence, shared_memory

    counter = reason.removeprefix(Reason.OVER_BUDGET)
    if counter in LANES:
        return divergence
    if counter.startswith("shared_") and "bank" in counter:
        return banks
    return shared_memory if place.space == "shared" else burst


class LastWriter(Observer):
    """Finds the last store to each element of an array of global memory: line, block and thread."""

    def __init__(self, array: str, index: tuple[int, ...]):
        self.array, self.index = array, index
        self.found: Place | None = None

    def store(self, request: Request) -> None:
        info = request.array.info
        if (info.space, info.name) != ("global", self.array):
            return
        steps = zip(self.index, info.strides, strict=True)
        wanted = info.address + sum(i * stride for i, stride in steps)
        group = request.mask.group
        named = np.broadcast_to(request.addresses, group.shape) == wanted
        hits = np.argwhere(named & request.mask.grid())
        if len(hits):
            row, column = hits[-1].tolist()
            thread = int(np.broadcast_to(group.thread_numbers, group.shape)[row, column])
            self.found = Place(
                request.site.line, request.access, group.block_of(row), thread // WARP_SIZE
            )

    atomic = store


def picture(kernel: Any, launch: Launch, verdict: Verdict, view: Any = None) -> Any:
    """Draw the launch of a verdict that has a trace, at the place that the verdict speaks of.

    ``view`` is a module of ``warpwise.views``, or anything with an ``of_trace``."""
    assert verdict.trace is not None
    t, place = found(kernel, launch, verdict, verdict.trace)
    return drawn(t, place, view or usual(place, verdict.reason))


def of_mistake(kernel: Any, launch: Launch, verdict: Verdict) -> Any:
    """Draw the warp of the thread whose mistake ended a launch, at the step where it did.

    None where the mistake is no thread's."""
    from warpwise.views import divergence

    seen = until_mistake(kernel, launch, verdict)
    if seen is None:
        return None
    t, where = seen
    assert where.block is not None and where.thread is not None
    warp = linear(where.thread, t.block) // WARP_SIZE
    try:
        view = divergence.of_trace(t, where.block, warp, where.line, last=True)
    except TraceError:
        return None
    ends = f"The launch ended at line {where.line}, by thread {where.thread} of block {where.block}"
    return replace(view, above=f"<p>{ends}: nothing after it ran.</p>{view.above}")


def found(kernel: Any, launch: Launch, verdict: Verdict, t: Trace) -> tuple[Trace, Place]:
    """Return a trace of the verdict's launch that has the events of a place, and the place."""
    if verdict.passed:
        return t, Place()
    try:
        place = _of(kernel, launch, verdict, t)
        if place.block is not None and linear(place.block, t.grid) not in t.records.block:
            t = _again(kernel, launch, record=(linear(place.block, t.grid),))
    except WarpwiseError:
        return t, Place()
    return t, place


def drawn(t: Trace, place: Place, view: Any) -> Any:
    """Draw a trace with ``view.of_trace``, at a place as far as the view can and the trace goes.

    ``view`` is a module of ``warpwise.views``, or anything with such a function. Raises the view's
    error if it cannot draw the trace at all."""
    takes = inspect.signature(view.of_trace).parameters
    known = {"line": place.line, "kind": place.kind, "warp": place.warp}
    given = {name: value for name, value in known.items() if name in takes and value is not None}
    for names in (("line", "kind", "warp"), ("line", "kind"), ("warp",), ("kind",)):
        with suppress(TraceError, LaunchError):
            return view.of_trace(t, **{name: given[name] for name in names if name in given})
    return view.of_trace(t)


def _of(kernel: Any, launch: Launch, verdict: Verdict, t: Trace) -> Place:
    if verdict.reason == Reason.RACE and t.races:
        return _of_race(t)
    if verdict.reason.startswith(Reason.OVER_BUDGET):
        return _of_budget(launch, verdict, t)
    for element in _elements(verdict.message):
        watch = LastWriter(element.array.open(), element.index)
        _again(kernel, launch, record=(), observers=watch)
        if watch.found:
            return watch.found
    return Place()


def _of_race(t: Trace) -> Place:
    """The later of a race's two accesses, or the one whose block is recorded."""
    race = t.races[0]
    recorded = {unlinear(int(block), t.grid) for block in np.unique(t.records.block)}
    sides = (race.second, race.first)
    side = next((one for one in sides if one.block in recorded), race.second)
    kind = "atomic" if side.atomic else "store" if side.writes else "load"
    warp = linear(side.thread, t.block) // WARP_SIZE
    return Place(side.line, kind, side.block, warp, race.space)


def _of_budget(launch: Launch, verdict: Verdict, t: Trace) -> Place:
    """The line that the message names, and of the recorded warps the one that idles most there."""
    counter = verdict.reason.removeprefix(Reason.OVER_BUDGET)
    if counter in OF_THE_COMPILER:  # of the machine code, which no trace shows
        return Place()
    kind = next((k for k in ("load", "store") if f"_{k}" in counter), None)
    line = blamed_line(t, counter, launch.budget[counter])
    return Place(line, kind, warp=_idlest(t, line) if counter in LANES else None)


def _idlest(t: Trace, line: int | None) -> int | None:
    """The warp of the recorded blocks whose lanes idle most, on a line or on all."""
    r = t.records
    rows = (r.kind == KINDS.index("issue")) & ((r.line == line) | (line is None))
    threads = r.active.shape[1]
    if not rows.any():
        return None
    starts = range(0, threads, WARP_SIZE)
    active = np.add.reduceat(r.active[rows], starts, axis=1, dtype=np.int64)
    sizes = np.array([min(WARP_SIZE, threads - start) for start in starts])
    idle = (np.where(active > 0, sizes - active, 0) * r.slots[rows, None]).sum(axis=0)
    return int(idle.argmax()) if idle.any() else None


def _elements(message: Message) -> Iterator[Element]:
    """Yield the elements that a message names, in its values' order."""
    for value in message.values.values():
        if isinstance(value, Message):
            yield from _elements(value)
        elif isinstance(value, Element):
            yield value


def _again(kernel: Any, launch: Launch, **options: Any) -> Trace:
    """Run a launch once more, on fresh arguments; its races are known."""
    options |= {"max_steps": MAX_STEPS, "sanitize": False}
    return trace(kernel, launch.blocks, launch.threads, *map(fresh, launch.args), **options)
