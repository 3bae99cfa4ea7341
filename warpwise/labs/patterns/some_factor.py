"""Patterns of wrong elements among right ones: one factor for all, or a quotient upside down."""

from __future__ import annotations

import numpy as np

from warpwise.labs.patterns import constants
from warpwise.labs.patterns.failure import Failure, Pattern, figure
from warpwise.labs.patterns.places import place

MOST_COLUMNS = 8  # of a table, beyond which its columns have no names
SAME = 1e-5  # relative difference below which two ratios are one
FEWEST = 2  # wrong elements below which a ratio tells something only if it is a usual one
SMALL = 0.01  # a factor closer to 1 comes of a small term, such as eps, and not of a factor
OF_THESE = "what is multiplied or divided by in the formula of these, and of none of the others?"
INVERTED = "is a quotient upside down there, so that what should be divided by is divided?"


def one_factor_of_some(f: Failure) -> Pattern | None:
    """The wrong elements are off by one factor, or by a power of ten."""
    got, want = f.pairs
    if f.got.dtype.kind != "f" or f.wrong.all() or not _are_usable(got, want):
        return None
    times = _one_number(got / want)
    if times is None or times == -1 or (got.size < FEWEST and constants.of_unit(times) is None):
        return None
    known = constants.of_factor(times)
    times = 10.0 ** round(np.log10(times)) if constants.of_unit(times) else times
    seen = f"each wrong one is {figure(times)} times what it should be"
    causes = (known[1], OF_THESE) if known else (OF_THESE,)
    return Pattern(_placed(f, f"{seen}, {known[0]}" if known else seen), causes)


def factors_of_columns(f: Failure) -> Pattern | None:
    """Each wrong column of a function's table is off by its own factor; others are right."""
    if f.tile or f.want.ndim != 2 or f.want.shape[1] > MOST_COLUMNS or f.want.dtype.kind == "b":
        return None
    wrong = np.flatnonzero(f.wrong.any(0)).tolist()
    factors = {column: _of_column(f, column) for column in wrong}
    known = {column: times for column, times in factors.items() if times is not None}
    if len(f.want) < FEWEST or len(known) < len(wrong) or len(wrong) == f.want.shape[1] > 1:
        return None
    said = [
        f"column {column} is {figure(times)} times what it should be"
        for column, times in known.items()
    ]
    units = any(constants.of_unit(times) for times in known.values())
    causes = (constants.UNIT, OF_THESE) if units else (OF_THESE,)
    return Pattern(", ".join(said) + "; all others are right", causes)


def _of_column(f: Failure, column: int) -> float | None:
    """Return the one factor that a column is off by."""
    got, want = (side[:, column] for side in f.numbers)
    used = want != 0
    if not np.isfinite(got).all() or not used.any() or got[~used].any():
        return None
    return _one_number(got[used] / want[used])


def inverted(f: Failure) -> Pattern | None:
    """The wrong elements are one number divided by what they should be."""
    got, want = f.pairs
    if f.got.dtype.kind != "f" or not _are_usable(got, want) or np.ptp(np.abs(got)) == 0:
        return None
    top = _one_number(got * want)
    if top is None or top <= 0:
        return None
    seen = f"each wrong one is {figure(top)} divided by what it should be"
    return Pattern(_placed(f, seen), (INVERTED,))


def _are_usable(got: np.ndarray, want: np.ndarray) -> bool:
    finite = np.isfinite(got).all() and np.isfinite(want).all()
    return bool(got.size and finite and got.all() and want.all())


def _one_number(values: np.ndarray) -> float | None:
    """Return what all values are, if that is one number that is not about 1."""
    first = float(np.median(values))
    is_one = abs(first - 1) > SMALL and np.allclose(values, first, rtol=SAME, atol=0)
    return first if is_one else None


def _placed(f: Failure, seen: str) -> str:
    """Say which elements are wrong, if a rule tells, and what they are."""
    found = place(f.wrong, f.tile)
    return f"wrong: {found.told}; {seen}" if found else seen
