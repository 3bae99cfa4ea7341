"""Find the name that another one is a misspelling of.

In a kernel, which is full of short names, it is one slip away, a long one two, and no further. A
slip is a letter too many, missing or wrong, or two letters that changed places. Names of one or two
letters are near to too many others, and so are never meant, but for a letter typed twice. Of
files, settings and people it is whichever is most alike. Names can come from untrusted text, so the
number of comparisons is bounded."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import islice

LONGEST, MOST = 40, 2000  # longest name in characters, and most names, that are compared
# difflib's ratio from which a name counts as a misspelling of another: two of three letters
NEAR = 0.65
SHORT, LONG = 4, 7  # letters of a name from which it may be one slip away, and two
OWN = 3  # letters from which one of the author's own names may be one slip away


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the one of ``known`` that ``name`` is most like, or "" if it is like none."""
    if len(name) > LONGEST:
        return ""
    lower = {k.lower(): k for k in islice(known, MOST) if len(k) <= LONGEST}
    found = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=NEAR)
    return lower[found[0]] if found else ""


def meant(name: str, known: Iterable[str], shortest: int = SHORT) -> str:
    """Return the one of ``known`` that is a slip or two from ``name``, or "".

    ``shortest``: the letters of a known name from which a slip is forgiven."""
    if len(name) > LONGEST:
        return ""
    near = (
        (slips, other)
        for other in islice(known, MOST)
        if len(other) <= LONGEST
        and (slips := _slips(name, other)) <= _forgiven(len(other), shortest)
    )
    return min(near, default=(0, ""), key=lambda pair: pair[0])[1]


def _forgiven(letters: int, shortest: int) -> int:
    return 2 if letters >= LONG else int(letters >= shortest)


def _slips(name: str, other: str) -> int:
    """Return how many slips lie between two names; those of case, and doubled letters, are none."""
    a, b = name.lower(), other.lower()
    if (a == b and len(a) > 1) or (a != b and re.sub(r"(.)\1+", r"\1", a) == b):
        return 0
    return distance(a, b) if a != b and abs(len(a) - len(b)) <= 2 else 3


def distance(a: str, b: str) -> int:
    """Return how many slips make one text of another, none on a letter that changed places.

    It is the optimal string alignment of https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance
    """
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a):
        last, before, row = before, row, [i + 1]
        for j, other in enumerate(b):
            steps = [before[j + 1] + 1, row[j] + 1, before[j] + (letter != other)]
            if i and j and letter == b[j - 1] and a[i - 1] == other:
                steps.append(last[j - 1] + 1)
            row.append(min(steps))
    return row[-1]
