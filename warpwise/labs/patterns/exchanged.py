"""A pattern of several outputs: one holds what another one should hold."""

from __future__ import annotations

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

FEWEST = 3  # different numbers below which that is chance
EXCHANGED = "are {name} and {other} exchanged, where they are stored?"
NOT_YET = "what has to be added to {other}, or taken from it, to make {name}?"


def exchanged(f: Failure) -> Pattern | None:
    """Each wrong element is the one that another output should have there."""
    got = f.numbers[0]
    for other, due in f.due.items():
        if due.shape != f.got.shape or f.wrong.sum() < FEWEST:
            continue
        there = due.astype(np.float64)
        if np.unique(got[f.wrong]).size < FEWEST or not f.same(got[f.wrong], there[f.wrong]):
            continue
        if other in f.right:
            seen = f"each wrong one is what {other} is there"
            return Pattern(seen, (NOT_YET.format(name=f.name, other=other),))
        seen = f"each wrong one is what {other} should be there"
        return Pattern(seen, (EXCHANGED.format(name=f.name, other=other),))
    return None
