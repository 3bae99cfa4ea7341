"""What would help: a launch run again with one thing changed, for each change that may pay.

A change is a cost that a student can do something about: accesses side by side, no conflicts,
another type, more blocks on an SM. What the change itself costs is not known, so the predicted time
is that of a kernel in which nothing else changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warpwise.stopwatch.case import Case, Change
from warpwise.stopwatch.change_accesses import coalesced, conflict_free
from warpwise.stopwatch.change_loads import kept_in_shared_memory, wide
from warpwise.stopwatch.change_residency import in_flight, more_resident, smaller_blocks
from warpwise.stopwatch.change_work import (
    FLOAT32,
    fewer_barriers,
    fewer_special,
    in_float32,
    less_indexing,
    spread_evenly,
    two_by_two,
    whole_warps,
)
from warpwise.stopwatch.estimate import Hint

CHANGES: tuple[Callable[[Case], Iterator[Change]], ...] = (
    coalesced,
    conflict_free,
    kept_in_shared_memory,
    wide,
    two_by_two,
    in_float32,
    less_indexing,
    fewer_special,
    whole_warps,
    spread_evenly,
    fewer_barriers,
    more_resident,
    smaller_blocks,
    in_flight,
)
MOST_HINTS = 3
WORTH_SAYING = 0.05  #: share of the time that a change must save


def hints_of(case: Case, seconds: float) -> tuple[Hint, ...]:
    """Return what would help a launch that takes so many seconds, most of all first."""
    saved = [(seconds_saved(case, change), change) for change in changes_of(case)]
    saved = [pair for pair in saved if pair[0] >= WORTH_SAYING * seconds]
    saved.sort(key=lambda pair: -pair[0])
    found = [_hint(case, change, seconds - less) for less, change in saved[:MOST_HINTS]]
    if saved and not any(change.words == FLOAT32 for _, change in saved):
        found += _then_float32(case, saved[0][1], seconds - saved[0][0])
    return tuple(found[:1] + sorted(found[1:], key=lambda hint: hint.seconds)[: MOST_HINTS - 1])


def _hint(case: Case, change: Change, seconds: float, words: str = "") -> Hint:
    places = tuple(map(case.trace.place, change.lines))
    return Hint(words or change.words, seconds, places, change.how)


def _then_float32(case: Case, first: Change, seconds: float) -> list[Hint]:
    """Return what float64 costs behind a larger evil: float32 once that is mended."""
    if first.model.sm.walks is not None:  # a walk can be changed once
        return []
    after = case.after(first)
    hints = [
        _hint(case, change, seconds - seconds_saved(after, change), f"{first.words}, and {FLOAT32}")
        for change in in_float32(after)
    ]
    return [hint for hint in hints if hint.seconds <= (1 - WORTH_SAYING) * seconds]


def changes_of(case: Case) -> Iterator[Change]:
    """Yield every change that may help."""
    for of in CHANGES:
        yield from of(case)


def seconds_saved(case: Case, change: Change) -> float:
    return (case.run.clocks - change.model.clocks()) / (1e9 * case.card.ghz)
