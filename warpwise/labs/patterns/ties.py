"""Patterns of ties: halfway between two results, or where two inputs are equal."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

TIES = (
    "such a tie has a rule of its own, as to the even neighbour: which one does the exercise ask "
    "for?",
    "np.rint rounds ties to even, and adding a half rounds them upwards",
)
WHERE_EQUAL = (
    "what is done where {one} and {other} are equal: does it fall into no case, or into the wrong "
    "one, as by < for <=?"
)


def equal_inputs(f: Failure) -> Pattern | None:
    """The wrong elements are those where two inputs are equal, which they are in no right case."""
    arrays = [(name, a) for name, a in f.arrays.items() if a.shape == f.want.shape]
    for (one, a), (other, b) in combinations(arrays, 2):
        equal = (a == b) & np.isfinite(a)
        if not np.array_equal(equal, f.wrong) or any(_meet(case, one, other) for case in f.before):
            continue
        seen = f"the wrong ones are those where {one} and {other} are equal"
        return Pattern(seen, (WHERE_EQUAL.format(one=one, other=other),))
    return None


def _meet(case: Mapping[str, Any], one: str, other: str) -> bool:
    """True if two inputs of a case are equal somewhere."""
    a, b = np.asarray(case.get(one, 0.0)), np.asarray(case.get(other, 1.0))
    return a.shape == b.shape and bool(((a == b) & np.isfinite(a.astype(np.float64))).any())


def other_neighbour(f: Failure) -> Pattern | None:
    """Every wrong element is a rounded input that was exactly between the two."""
    got, want = f.pairs
    if not got.size or not (np.isfinite(got).all() and np.isfinite(want).all()):
        return None
    step = np.abs(got - want)
    if not step.all() or np.ptp(step) or (want % step).any():
        return None  # not two neighbours among the multiples of one number
    for name, array in f.arrays.items():
        if array.shape == f.got.shape and (got + want == 2 * array[f.wrong]).all():
            seen = f"each wrong one comes from an element of {name} halfway between two results"
            return Pattern(f"{seen}, and is the other of the two", TIES)
    return None
