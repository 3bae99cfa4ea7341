"""Patterns of wrong elements among right ones: one factor for all, or a quotient upside down."""

from __future__ import annotations

import numpy as np

from warpwise.labs.patterns import constants
from warpwise.labs.patterns.failure import Failure, Pattern, figure
from warpwise.labs.patterns.places import place

SAME = 1e-5  # relative difference below which two ratios are one
FEWEST = 2  # wrong elements below which a ratio tells something only if it is a usual one
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
    seen = f"each wrong one is {figure(times)} times what it should be"
    causes = (known[1], OF_THESE) if known else (OF_THESE,)
    return Pattern(_placed(f, f"{seen}, {known[0]}" if known else seen), causes)


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
    """Return what all values are, if that is one number."""
    first = float(np.median(values))
    return first if np.allclose(values, first, rtol=SAME, atol=0) else None


def _placed(f: Failure, seen: str) -> str:
    """Say which elements are wrong, if a rule tells, and what they are."""
    found = place(f.wrong, f.tile)
    return f"wrong: {found.told}; {seen}" if found else seen
