"""Rows or columns that are right in another place: each wrong one is what another one should be."""

from __future__ import annotations

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

FEWEST = 4  # elements of a line, and lines, below which that is chance
MOST = 300  # lines, beyond which comparing each with each takes long
ALIKE = (
    "several {lines} take the same elements: is an index the same there where it should differ, "
    "for want of a loop's variable, or of the number of the block?"
)
ORDER = (
    "does each thread store the {lines} that it computes? Compare how the number of a {line} is "
    "made of the thread's and of a loop's variable where elements are read, and where they are "
    "stored"
)


def other_lines(f: Failure) -> Pattern | None:
    """Each row of a matrix is what some row should be, or each column; or both."""
    got, want = f.numbers
    if got.ndim != 2 or got.shape != want.shape or not np.isfinite(got).all():
        return None
    rows, cols = _places(f, got, want), _places(f, got.T, want.T)
    for line, places in (("row", rows), ("column", cols)):
        if places is not None:
            return _told(f, line, places)
    down = _places(f, np.sort(got, 1), np.sort(want, 1))
    across = _places(f, np.sort(got, 0).T, np.sort(want, 0).T)
    if down is None or across is None or not f.same(got, want[down][:, across]):
        return None
    found = _told(f, "row", down)
    return found and Pattern(f"{found.seen}, and columns stand elsewhere as well", found.causes)


def _places(f: Failure, got: np.ndarray, want: np.ndarray) -> np.ndarray | None:
    """Return for each line of ``got`` which one of ``want`` it is; None if one is none of them."""
    if min(got.shape) < FEWEST or got.shape[0] > MOST or not np.ptp(want, 1).all():
        return None
    distance = np.abs(got[:, None, :] - want[None, :, :]).max(2)
    places = distance.argmin(1)
    own = np.arange(len(got))
    places = np.where(distance[own, own] <= distance[own, places], own, places)
    return places if f.same(got, want[places]) else None


def _told(f: Failure, line: str, places: np.ndarray) -> Pattern | None:
    wrong = np.flatnonzero(places != np.arange(places.size))
    if not wrong.size:
        return None
    first = int(wrong[0])
    seen = f"{line} {first} of {f.name} is what {line} {int(places[first])} should be"
    if wrong.size > 1:
        last = int(wrong[-1])
        seen += f", and {line} {last} what {line} {int(places[last])} should be"
    alike = np.unique(places).size < places.size
    causes = (ALIKE, ORDER) if alike else (ORDER, ALIKE)
    return Pattern(seen, tuple(cause.format(line=line, lines=f"{line}s") for cause in causes))
