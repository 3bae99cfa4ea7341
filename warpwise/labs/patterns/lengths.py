"""Patterns of a vector that has too few or too many elements."""

from __future__ import annotations

from warpwise.labs.patterns.failure import Failure, Pattern

MOST_LISTED = 4
OTHER_SHAPE = "look again at the shape that the exercise asks for"
ONE_FOR_ALL = "one number is made where one for each row is due: name the axis, as in axis=1"
ENDS = (
    "an end is included that should not be, or left out: where does a range begin and end, "
    "and is it < or <= where both sides are equal?"
)
TESTED = "what is tested is another quantity than the one asked for, or a value is found twice"


def other_length(f: Failure) -> Pattern:
    """The shape is another one; of two vectors, which values are missing or too many."""
    if f.got.ndim != 1 or f.want.ndim != 1:
        turned = f.got.ndim > 1 and f.got.shape == f.want.shape[::-1]
        if turned and f.same(f.got, f.want.T):
            return Pattern("it is transposed", (OTHER_SHAPE, "rows and columns are exchanged"))
        if f.got.ndim < f.want.ndim:
            return Pattern("", (ONE_FOR_ALL, OTHER_SHAPE))
        return Pattern("", (OTHER_SHAPE, ONE_FOR_ALL))
    got, want = f.got.tolist(), f.want.tolist()
    missing = [n for n in want if n not in got]
    extra = [n for n in got if n not in want]
    if (missing and extra) or not (missing or extra):
        return Pattern("", (OTHER_SHAPE, TESTED))
    listed = ", ".join(f"{n:.6g}" for n in (missing or extra)[:MOST_LISTED])
    more = ", ..." if len(missing or extra) > MOST_LISTED else ""
    what = "missing" if missing else "too many"
    return Pattern(f"{what}: {listed}{more}", (ENDS, TESTED) if missing else (TESTED, ENDS))
