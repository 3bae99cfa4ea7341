"""A pattern of rows that a negative number marks, such as the label -100 of a row not counted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

ASKED = "what should {name} be where {mark} is {value}, and is that asked before {mark} is used?"


def marked_rows(f: Failure) -> Pattern | None:
    """Only elements whose mark is one negative number are wrong."""
    if f.want.ndim != 1:
        return None
    for mark, value, where in _marks(f):
        if not (where[f.wrong]).all():
            continue
        whole = "all" if f.wrong[where].all() else "some"
        there = f"elements where {mark} is {value}"
        seen = f"only {there} are wrong, and {whole} of them"
        return Pattern(seen, (ASKED.format(name=f.name, mark=mark, value=value),))
    return None


def _marks(f: Failure) -> Iterator[tuple[str, int, np.ndarray]]:
    """Yield marks of the elements: an input, a negative number in it, and where it stands."""
    for name, array in f.inputs.items():
        if isinstance(array, np.ndarray) and array.dtype.kind == "i":
            if array.shape != f.want.shape or not (array >= 0).any():
                continue
            for value in np.unique(array[array < 0]).tolist():
                yield name, value, array == value
