"""Wrong elements that lie halfway between two results, and were rounded to the other one."""

from __future__ import annotations

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

TIES = (
    "such a tie has a rule of its own, as to the even neighbour: which one does the exercise ask "
    "for?",
    "np.rint rounds ties to even, and adding a half rounds them upwards",
)


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
