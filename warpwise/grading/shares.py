"""A counter beside its budget as students see it: a share of the budget, in coarse steps.

The counter, its budget and their exact ratio would each tell the size of a hidden case. Left out:
what the instructor sees, which is exact."""

from __future__ import annotations

from warpwise.grading.record import Counter
from warpwise.metrics import MORE_IS_BETTER

STEP = 0.05  #: of a share within the budget
MOST_TIMES = 10.0  #: beyond it a share tells no more: a kernel can make its loads grow as it likes


def share(counter: Counter) -> float | None:
    """Return the value over the limit, rounded, on the right side of 1; None for a limit of 0."""
    if not counter.limit:
        return None
    exact = counter.value / counter.limit
    if exact == 1 or not counter.value:
        return exact
    if exact < 1:
        return round(min(max(round(exact / STEP) * STEP, STEP), 1 - STEP), 2)
    return round(min(max(exact, 1.1), MOST_TIMES), 1)


def against(counter: Counter) -> str:
    """Compare a counter with its budget in words."""
    rounded = share(counter)
    if rounded is None:
        return "some; the budget allows none" if counter.over else "none, as the budget asks"
    if counter.name in MORE_IS_BETTER:
        return (
            f"about {rounded:.0%} of what is asked for" if counter.over else "as much as asked for"
        )
    if not rounded:
        return "none"
    if rounded == 1:
        return "exactly what the budget allows"
    if rounded < 1:
        return f"about {rounded:.0%} of the budget"
    if rounded == MOST_TIMES:
        return f"{MOST_TIMES:.0f} times the budget or more"
    return f"about {rounded:.1f} times the budget"
