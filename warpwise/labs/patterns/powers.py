"""A pattern of powers: each number is one over what it should be, its square or its root."""

from __future__ import annotations

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

FEWEST = 3  # different numbers below which a power tells nothing
ROOT = "a root is left out"
POWERS = (
    (
        -1.0,
        "one over what it should be",
        "a quotient stands the other way round, or 1 / is missing",
    ),
    (2.0, "the square of what it should be", f"{ROOT}, or a square is taken that should not be"),
    (0.5, "the root of what it should be", "a root is taken twice, or a square is left out"),
    (-2.0, "one over the square of what it should be", f"{ROOT}, and a quotient is the other way"),
)


def a_power(f: Failure) -> Pattern | None:
    """Positive numbers that are all one power of those that are due."""
    got, want = f.pairs
    if f.got.dtype.kind != "f" or np.unique(want).size < FEWEST or not f.wrong.all():
        return None
    if not (np.isfinite(got).all() and (want > 0).all()):
        return None
    for power, told, cause in POWERS:
        if np.allclose(got, want**power, rtol=1e-4, atol=0) and not np.allclose(
            got, want, rtol=1e-3
        ):
            return Pattern(f"each is {told}", (cause,))
    return None
