"""Two texts side by side: lines that are the same, the same but for names and layout, or different.

Lines are matched by their shape, in which all names are one, so that a text whose names were
changed still lies beside its original. Texts are students': nothing is parsed, and only MOST_LINES
of each are looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from keyword import iskeyword

from warpwise.grading.class_report.wording import printable

MOST_LINES, MOST_CHARACTERS = 300, 200
SAME, RENAMED, DIFFERENT = "same", "names, layout or comments", "different"
NAME = re.compile(r"[^\W\d]\w*")
COMMENT = re.compile(r"#.*")


@dataclass(frozen=True)
class Row:
    """A line of each text, numbered from 1; 0 and "" where one has none."""

    kind: str  #: SAME, RENAMED or DIFFERENT
    number_a: int
    a: str
    number_b: int
    b: str


def rows(text_a: str, text_b: str) -> tuple[Row, ...]:
    """Return both texts, up to MOST_LINES of each, in order."""
    a, b = lines(text_a), lines(text_b)
    matcher = SequenceMatcher(None, [*map(shape, a)], [*map(shape, b)], autojunk=False)
    return tuple(row for _, *ends in matcher.get_opcodes() for row in _beside(a, b, *ends))


def lines(text: str) -> list[str]:
    """Return the lines that are looked at, and one that counts the others.

    What cannot be seen is shown as a mark."""
    found = text.expandtabs(4).splitlines()
    kept = [
        printable(line[:MOST_CHARACTERS] + ("…" if len(line) > MOST_CHARACTERS else ""))
        for line in found[:MOST_LINES]
    ]
    return [*kept, f"… {len(found) - MOST_LINES} more lines"] if len(found) > MOST_LINES else kept


def shape(line: str) -> str:
    """Return a line with all names alike, and without comments and blanks."""
    code = COMMENT.sub("", line)
    alike = NAME.sub(lambda name: name[0] if iskeyword(name[0]) else "v", code)
    return re.sub(r"\s+", "", alike)


def _beside(
    a: Sequence[str], b: Sequence[str], first_a: int, end_a: int, first_b: int, end_b: int
) -> Iterator[Row]:
    for i, j in zip_longest(range(first_a, end_a), range(first_b, end_b)):
        line_a, line_b = "" if i is None else a[i], "" if j is None else b[j]
        if i is None or j is None or shape(line_a) != shape(line_b):
            kind = DIFFERENT
        else:
            kind = SAME if line_a.split() == line_b.split() else RENAMED
        yield Row(kind, 0 if i is None else i + 1, line_a, 0 if j is None else j + 1, line_b)
