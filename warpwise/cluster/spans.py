"""Spans of time: unions, what two have in common, and how long they are. All in seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Intervals: TypeAlias = list[tuple[float, float]]  #: apart from one another, in order


def union(spans: Iterable[tuple[float, float]]) -> Intervals:
    """Return spans that may overlap as intervals that do not."""
    found: Intervals = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        elif begin < end:
            found.append((begin, end))
    return found


def both(ones: Intervals, others: Intervals) -> Intervals:
    """Return what is in both."""
    pairs = ((max(a, c), min(b, d)) for a, b in ones for c, d in others)
    return union((begin, end) for begin, end in pairs if begin < end)


def length(spans: Intervals) -> float:
    """Return how long intervals are together."""
    return sum(end - begin for begin, end in spans)


@dataclass(frozen=True)
class RankSpans:
    """When a rank computes, and when it sends or receives, latencies included."""

    computes: Intervals
    moves: Intervals

    @property
    def both(self) -> Intervals:
        """When it does both at once."""
        return both(self.computes, self.moves)

    @property
    def either(self) -> Intervals:
        """When it is not idle."""
        return union((*self.computes, *self.moves))
