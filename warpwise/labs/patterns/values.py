"""Patterns in the values of wrong elements: one factor, one offset, a sign, digits or a type."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from warpwise.labs.patterns import constants
from warpwise.labs.patterns.failure import CLOSE, Failure, Pattern, figure

SAME = 1e-4  # relative difference below which two ratios are one
NEAR = 0.01  # relative error below which a number is close
EXTREMES = {np.iinfo(kind).max: kind for kind in (np.int8, np.uint8, np.int16, np.int32)}
FRACTIONS = 2**23  # from here on a float32 has none
HALF_MOST = 65504.0  # the largest float16
NEAR_CAUSES = (
    "close, but not close enough: where does a formula differ a little, as a small constant that "
    "is left out or stands elsewhere",
    "a number that has fewer digits than the exercise asks for, or loses them in a difference",
)
UNDIVIDED = "nothing is divided: is each {line} divided by the sum of its weights at the end?"
OWN_LOG_SUM = (
    "is it the log-sum-exp of the same row, and of the same head, that is subtracted before exp, "
    "and is every factor there?"
)
SUM_CAUSES = (
    "something is counted more than once, or left out: a term, a step of a loop, or the number "
    "that a sum is divided by",
    "a factor is missing or taken twice",
)


def one_factor(f: Failure) -> Pattern | None:
    """Every element is off by the same factor."""
    times = factor(f.got, f.want)
    if times is None:
        return None
    known = _known_factor(f, times) or constants.of_factor(times)
    seen = f"each is {figure(times)} times what it should be" + (f", {known[0]}" if known else "")
    if times == -1:
        swapped = "the operands of a difference, or the two sides of it, are exchanged"
        return Pattern(seen, (swapped, "a sign is wrong"))
    usual = _causes_of_lines(f, "row") if f.is_softmax and f.want.ndim > 1 else SUM_CAUSES
    return Pattern(seen, (*((known[1],) if known else ()), *usual))


def factor(got: np.ndarray, want: np.ndarray) -> float | None:
    """Return the one factor from every element of ``want`` to ``got``; None if there is none."""
    if got.shape != want.shape or got.size < 2 or not np.isfinite(got).all():
        return None
    a, b = got.astype(np.float64), want.astype(np.float64)
    used = np.abs(b) > 1e-6 * np.abs(b).max()
    if used.sum() < 2 or np.any(np.abs(a[~used]) > CLOSE * np.abs(a).max()):
        return None
    ratios = a[used] / b[used]
    first = float(np.median(ratios))
    if first == 0 or not math.isfinite(first) or np.isclose(first, 1, rtol=1e-3):
        return None
    return first if np.allclose(ratios, first, rtol=SAME, atol=0) else None


def _known_factor(f: Failure, times: float) -> tuple[str, str] | None:
    """Return what a factor is, if a number of the case is it, and what that suggests."""
    for name, value in f.scalars.items():
        if value and math.isclose(times, value, rel_tol=1e-4):
            return name, f"{name} is multiplied once more than it should be"
        if value and math.isclose(times, 1 / value, rel_tol=1e-4):
            return f"1 / {name}", f"{name} is left out: multiply by it, or do not divide by it"
    for name, array in f.arrays.items():
        for axis, size in enumerate(array.shape):
            for way, value in (("", float(size)), ("1 / ", 1 / size)):
                if size > 1 and math.isclose(times, value, rel_tol=1e-4):
                    what = f"{way}{name}.shape[{axis}]"
                    return what, f"a sum over {name}.shape[{axis}] and its mean are exchanged"
    return None


def factor_by_axis(f: Failure) -> Pattern | None:
    """Every row, or every column, is off by a factor of its own."""
    got, want = f.numbers
    if got.ndim < 2 or not (np.isfinite(got).all() and np.isfinite(want).all()):
        return None
    for axis, line, lines in ((-1, "row", "rows"), (-2, "column", "columns")):
        if got.shape[axis] < 3 or not _steady(got, want, axis):
            continue
        seen = f"each {line} of {f.name} is off by one factor, and the {lines} by different ones"
        return Pattern(seen, _causes_of_lines(f, line))
    return None


def _steady(got: np.ndarray, want: np.ndarray, axis: int) -> bool:
    """True if got is want times a number along an axis, not everywhere the same one."""
    top = (got * want).sum(axis, keepdims=True)
    below = (want * want).sum(axis, keepdims=True)
    with np.errstate(all="ignore"):
        times = np.where(below > 0, top / below, 1)
    size = np.abs(want).max(axis, keepdims=True) * np.maximum(1, np.abs(times))
    if not (np.abs(got - times * want) <= 1e-4 * size + 1e-12).all():
        return False
    return bool(np.ptp(times) > 1e-3 * np.abs(times).max()) and not bool((times == 0).any())


def _causes_of_lines(f: Failure, line: str) -> tuple[str, ...]:
    if f.is_backward:
        return (
            OWN_LOG_SUM,
            f"the {line} has terms too many, or too few: look at masks and the edge",
        )
    if f.is_softmax and not f.uses("/", "divide", "true_divide", "reciprocal"):
        return (UNDIVIDED.format(line=line),)
    own = f"the number that a {line} is divided or multiplied by is wrong: is its sum complete?"
    if f.is_softmax and f.right:
        return f.likely(own)
    if f.is_softmax:
        return (
            f"the sum of a {line}'s weights is wrong: all parts of it must be measured against one "
            "maximum, so it is rescaled by exp(old - new) when the maximum grows",
            f"the {line}'s sum has elements too many, or too few: look at masks and the edge",
        )
    return own, f"a factor that belongs to each {line} is left out, or is another {line}'s"


def lowest_bit(values: np.ndarray) -> int:
    """Return the lowest bit that is set in any of the values; 0 if none is."""
    bits = int(np.bitwise_or.reduce(values, axis=None))
    return bits & -bits


def one_step(f: Failure) -> Pattern | None:
    """Bit patterns that are too small, or too large, by one in the lowest bit that is kept."""
    if f.got.dtype.kind != "u" or f.got.shape != f.want.shape or not f.wrong.any():
        return None
    got, want = (side[f.wrong].astype(np.int64) for side in (f.got, f.want))
    gap = want - got
    step = int(abs(gap[0]))
    if step < 2 or step & (step - 1) or not (gap == gap[0]).all() or (want % step).any():
        return None
    way = "small" if gap[0] > 0 else "large"
    if step != lowest_bit(f.want):
        seen = f"each wrong one is {step:#x} too {way}, which is one bit"
        return Pattern(seen, ("which condition, or which constant, decides about that bit?",))
    seen = f"each wrong one is one step of {step:#x} too {way}, the lowest bit that is kept"
    rounded = (
        "the bits that are dropped are more than half a step there: are they cut off, not rounded?",
        "where exactly half a step is dropped, it should be the even neighbour",
    )
    added = "are numbers rounded up whose dropped bits are less than half a step?"
    return Pattern(seen, rounded if gap[0] > 0 else (added, *rounded[1:]))


def offset(f: Failure) -> Pattern | None:
    """Every wrong element is too large, or too small, by one number."""
    got, want = f.pairs
    if got.size < 2 or not np.isfinite(got - want).all():
        return None
    by = float(np.median(got - want))
    scale = np.abs(want).max() + abs(by)
    if abs(by) <= 100 * CLOSE * scale or not (np.abs(got - want - by) <= CLOSE * scale).all():
        return None
    if f.got.dtype.kind in "iu" and abs(by) == 1:
        seen = f"each wrong one is 1 too {'large' if by > 0 else 'small'}"
        return Pattern(
            seen,
            (
                "it is counted from 0 instead of from 1, or an end is included that should not be, "
                "or left out",
                "it is rounded the other way: down instead of up, or the reverse",
            ),
        )
    known = constants.of_term(by) if f.uses("exp", "log", "log2") else None
    which = f", which is {known[0]}" if known else ""
    seen = f"each wrong one is {figure(abs(by))} too {'large' if by > 0 else 'small'}{which}"
    if known:
        return Pattern(seen, (known[1], *f.likely("an index is off by one")))
    added = "a number is added once too often" if by > 0 else "a number is left out of a sum"
    causes = f.likely(f"{added}, or it is added with the other sign", "an index is off by one")
    return Pattern(seen, causes)


def sign(f: Failure) -> Pattern | None:
    """Wrong elements have the right size and the other sign."""
    got, want = f.pairs
    if got.size < 2 or not (got * want < 0).all() or not f.same(np.abs(got), np.abs(want)):
        return None
    seen = "the wrong elements have the right size and the other sign"
    if (got >= 0).all():
        return Pattern(seen, ("a sign is lost: an absolute value, a square root, a bit mask",))
    return Pattern(seen, ("the sides of a difference are exchanged", "a sign is wrong"))


def of_a_type(f: Failure) -> Pattern | None:
    """Numbers that were cut, saturated or wrapped by a type too small."""
    got, want = f.pairs
    if not np.isfinite(want).all() or got.size == 0:
        return None
    looks = (_wrapped, _cut, _whole, _narrow)
    return next((found for look in looks if (found := look(f, got, want))), None)


def _wrapped(f: Failure, got: np.ndarray, want: np.ndarray) -> Pattern | None:
    gap = got - want
    for bits in (8, 16, 32):
        wraps = gap % 2.0**bits == 0
        fits = np.abs(got).max() <= 2**bits
        if got.size > 1 and fits and wraps.all() and np.abs(want).max() >= 2 ** (bits - 1):
            seen = f"each wrong one is off by a multiple of {2**bits}"
            return Pattern(seen, (f"an integer of {bits} bits wrapped around: use a wider type",))
    for most, kind in EXTREMES.items():
        if got.size > 1 and np.isin(got, [most, -most, -most - 1]).all():
            seen = f"the wrong elements are all {most} or its negative"
            name = np.dtype(kind).name
            return Pattern(seen, (f"they are cut to the range of {name}: is the scale right?",))
    return None


def _cut(f: Failure, got: np.ndarray, want: np.ndarray) -> Pattern | None:
    """Whole numbers that are one nearer to 0."""
    if f.got.dtype.kind not in "iu" or got.size < 2 or not (np.abs(got - want) == 1).all():
        return None
    if not (np.abs(got) < np.abs(want)).all():
        return None
    cut = "a number is cut off where it should be rounded: round first, then convert"
    return Pattern("each wrong one is 1 nearer to 0 than it should be", (cut,))


def _whole(f: Failure, got: np.ndarray, want: np.ndarray) -> Pattern | None:
    """Whole numbers where others are due."""
    whole = (got == np.trunc(got)).all()
    if f.got.dtype.kind != "f" or not whole or (want == np.trunc(want)).mean() > 0.5:
        return None
    if not got.any() or np.unique(got).size < 3 or np.abs(got).max() >= FRACTIONS:
        return None
    integer = (
        "a sum, a tile or a variable is of an integer type, and cuts what is added: "
        "begin it with np.float32(0)"
    )
    seen = "all wrong elements are whole numbers, and should not be"
    return Pattern(seen, (integer, "// stands where / should"))


def _narrow(f: Failure, got: np.ndarray, want: np.ndarray) -> Pattern | None:
    """Numbers that a narrower type than theirs, or than the one that is due, holds exactly."""
    if f.got.dtype.kind != "f" or not np.isfinite(got).all() or not _near(got, want):
        return None
    for narrow, wide, fewest in ((np.float16, np.float32, 3), (np.float32, np.float64, 1)):
        due = f.want.dtype.type in (wide, np.float64) and np.unique(got).size >= fewest
        if due and _is_exact(got, narrow).all() and not _is_exact(want, narrow).all():
            name = narrow.__name__
            seen = f"no wrong element has more digits than a {name} holds"
            make = f"make products and sums in {wide.__name__}, and store those"
            return Pattern(seen, (f"a number is {name} on the way: {make}",))
    return None


def _is_exact(values: np.ndarray, narrow: type[np.floating[Any]]) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(values.astype(narrow).astype(np.float64) == values)


def close(f: Failure) -> Pattern | None:
    """Floating-point numbers with a relative error below NEAR."""
    got, want = f.pairs
    if f.got.dtype.kind != "f" or got.size == 0 or not _near(got, want):
        return None
    worst = float((np.abs(got - want) / _size(want)).max())
    seen = f"they are close: off by {figure(100 * worst)} % at most"
    rounded = (
        "a sum or a product is rounded to float16 before it is added: keep it in float32",
        *NEAR_CAUSES[:1],
    )
    if f.is_close:
        return Pattern(seen, NEAR_CAUSES[::-1])
    return Pattern(seen, rounded if f.has_halves else f.likely(*NEAR_CAUSES))


def _near(got: np.ndarray, want: np.ndarray) -> bool:
    """True if every number is finite, wanted finite, and has a relative error below NEAR."""
    if not (np.isfinite(got).all() and np.isfinite(want).all()):
        return False
    return bool((np.abs(got - want) < NEAR * _size(want)).all())


def _size(want: np.ndarray) -> np.ndarray:
    """Return what the errors are measured by: each number, or the mean if that is larger."""
    least = max(float(np.abs(want).mean()), 1e-300)
    return np.asarray(np.maximum(np.abs(want), least))
