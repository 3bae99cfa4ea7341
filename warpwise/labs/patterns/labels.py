"""Patterns of labels: numbers that name something, so that none is more or less than another."""

from __future__ import annotations

from warpwise.labs.patterns.failure import Failure, Pattern

ANOTHER = (
    "another one is chosen: is the least taken for the greatest, or the last of equals for the "
    "first, and which condition is asked first?"
)
ITS_VALUE = "a value is returned where its number is asked for, or the other way round"
OPPOSITE = "the condition, or what is marked by it, is the other way round"
OTHER_RULE = (
    "they are chosen by another rule: compare it with the exercise's, and what it does with equals"
)


def another(f: Failure) -> Pattern | None:
    """Return what wrong labels have in common, which is little."""
    if not f.labels:
        return None
    got, want = f.got[f.wrong], f.want[f.wrong]
    if f.want.dtype.kind != "b":
        return Pattern("", (ANOTHER, ITS_VALUE))
    if f.wrong.all() and f.wrong.size > 1:
        return Pattern("each is the opposite of what it should be", (OPPOSITE, OTHER_RULE))
    lost, more = int((want & ~got).sum()), int((got & ~want).sum())
    parts = [f"{lost} should be True and {_is(lost)} not"] * bool(lost)
    parts += [f"{more} should be False and {_is(more)} not"] * bool(more)
    return Pattern(", ".join(parts), (OTHER_RULE, OPPOSITE))


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
