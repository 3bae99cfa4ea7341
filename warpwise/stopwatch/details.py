"""What of an estimate takes as long as the time itself, or longer: worked out once, and on demand.

A card, a line of a table and a file of predictions show none of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from warpwise.stopwatch.case import Case
from warpwise.stopwatch.estimate import Details, Hint
from warpwise.stopwatch.film import Timeline
from warpwise.stopwatch.hints import hints_of
from warpwise.stopwatch.timeline import timeline


@dataclass(frozen=True, eq=False)
class Deferred:
    """Details of a launch that takes so many seconds. A doubtful one has no hints."""

    case: Case
    seconds: float
    doubtful: bool

    @cached_property
    def hints(self) -> tuple[Hint, ...]:
        return () if self.doubtful else hints_of(self.case, self.seconds)

    @cached_property
    def timeline(self) -> Timeline:
        case = self.case
        return timeline(case.trace, case.program, case.card, case.run)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has what was worked out, and not the trace."""
        return Details, (self.hints, self.timeline)
