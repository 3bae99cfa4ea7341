"""Patterns of labels: numbers that name something, so that none is more or less than another."""

from __future__ import annotations

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

ANOTHER = (
    "another one is chosen: is the least taken for the greatest, or the last of equals for the "
    "first, and which condition is asked first?"
)
FEWEST = 2  # wrong elements below which that tells nothing
MOST_OF_TWO = 3  # different numbers that are due, below which all of them are exchanged
WHICH = (
    "what sets those that should be {other} apart from those that are {one}: is it asked, and "
    "first?"
)
BOTH = "do the two numbers {one} and {other} stand in each other's place?"
ITS_VALUE = "a value is returned where its number is asked for, or the other way round"
OPPOSITE = "the condition, or what is marked by it, is the other way round"
OTHER_RULE = (
    "they are chosen by another rule: compare it with the exercise's, and what it does with equals"
)


def one_for_another(f: Failure) -> Pattern | None:
    """Every wrong whole number is one number where another is due, or the other way round."""
    if f.want.dtype.kind not in "iu" or f.wrong.sum() < FEWEST or f.got.shape != f.want.shape:
        return None
    pairs = set(zip(f.got[f.wrong].tolist(), f.want[f.wrong].tolist(), strict=True))
    one, other = min(pairs)
    if np.unique(f.want).size < MOST_OF_TWO or not pairs <= {(one, other), (other, one)}:
        return None
    if len(pairs) == 1:
        seen = f"each wrong one is {one} and should be {other}"
        return Pattern(seen, (WHICH.format(one=one, other=other), ANOTHER))
    seen = f"{one} stands where {other} should, and {other} where {one} should"
    return Pattern(seen, (BOTH.format(one=one, other=other), ANOTHER))


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
