"""The exercise's own readings: what comes out if its text is misread in a way that its author met.

They are told before any pattern, and only if they account for every wrong element, so what is said
is true of the numbers, whatever the student's text does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.labs.compare import compare
from warpwise.labs.patterns.failure import Failure, Pattern

MOST_TOLD = 2
ASKED = "find where your code does this, and compare it with what the exercise asks"


@dataclass(frozen=True)
class _Match:
    """A reading that stands in the numbers: its clause, and the wrong elements that it makes."""

    clause: str
    explains: np.ndarray


def misread(f: Failure) -> Pattern | None:
    """The wrong elements are those of a reading of the exercise's, or of two at once.

    Any two truth values agree too often for two at once."""
    found = [match for clause, value in f.readings.items() if (match := _match(f, clause, value))]
    alone = [match for match in found if match.explains.all()]
    pair = f.got.dtype.kind != "b" and len(found) == MOST_TOLD
    if alone:
        told = ", or if ".join(match.clause for match in alone[:MOST_TOLD])
    elif pair and (found[0].explains | found[1].explains).all():
        told = ", and ".join(match.clause for match in found)
    else:
        return None
    return Pattern(f"this is what comes out if {told}", (ASKED,))


def _match(f: Failure, clause: str, value: np.ndarray) -> _Match | None:
    """Find a reading in the numbers: they are as it says wherever it says something wrong."""
    if value.shape != f.got.shape:
        return None
    same = np.ones(value.shape, bool)
    differs = compare(f.got, value, f.rtol, f.atol)
    if differs is not None:
        same = ~differs.where
    if f.got.shape != f.want.shape:
        return _Match(clause, same) if same.all() else None
    wrong = compare(value, f.want, f.rtol, f.atol)
    if wrong is None or not same[wrong.where].all():
        return None
    return _Match(clause, wrong.where[f.wrong])
