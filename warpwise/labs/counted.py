"""What a case's budget limits, as counted in one verdict's launch or run."""

from __future__ import annotations

from collections.abc import Iterator

from warpwise.labs.budgets import counter_value, run_value
from warpwise.labs.exercise import Case, Launch, Program, Verdict


def counted(verdict: Verdict, case: Case) -> Iterator[tuple[str, float, float]]:
    """Yield each counter of a budget, its value and its limit; none without a trace or a run."""
    if isinstance(case, Launch) and verdict.trace is not None:
        for name, limit in case.budget.items():
            yield name, counter_value(verdict.trace, name), limit
    if isinstance(case, Program) and verdict.run is not None:
        for name, limit in case.budget.items():
            yield name, run_value(verdict.run, name), limit
