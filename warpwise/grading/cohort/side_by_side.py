"""Two texts line by line, beside each other: which lines are the same, which but for names and layout, and which differ.

Lines are matched by their shape, in which all names are one, so that a text whose names were changed still lies beside its other. Texts
are students': nothing is parsed, and no more than MOST_LINES of each is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from keyword import iskeyword

MOST_LINES, MOST_CHARACTERS = 300, 200
SAME, RENAMED, DIFFERENT = "same", "names, layout or comments", "different"
NAME = re.compile(r"[^\W\d]\w*")
COMMENT = re.compile(r"#.*")


@dataclass(frozen=True)
class Row:
    """A line of each text, numbered from 1, with 0 and "" where one has none; ``kind`` is SAME, RENAMED or DIFFERENT."""

    kind: str
    number_a: int
    a: str
    number_b: int
    b: str


def rows(text_a: str, text_b: str) -> tuple[Row, ...]:
    """Both texts whole, up to MOST_LINES each, in order."""
    a, b = lines(text_a), lines(text_b)
    matcher = SequenceMatcher(None, [shape(line) for line in a], [shape(line) for line in b], autojunk=False)
    return tuple(row for _, *ends in matcher.get_opcodes() for row in _beside(a, b, *ends))


def lines(text: str) -> list[str]:
    """The lines that are looked at, and where there are more one that says so. What cannot be seen is shown as a mark."""
    found = text.expandtabs(4).splitlines()
    kept = [printable(line[:MOST_CHARACTERS] + ("…" if len(line) > MOST_CHARACTERS else "")) for line in found[:MOST_LINES]]
    return [*kept, f"… {len(found) - MOST_LINES} more lines"] if len(found) > MOST_LINES else kept


def shape(line: str) -> str:
    """A line with all names alike, and without comments and blanks."""
    return re.sub(r"\s+", "", NAME.sub(lambda name: name[0] if iskeyword(name[0]) else "v", COMMENT.sub("", line)))


def printable(text: str) -> str:
    """A text from outside without characters that move a terminal's cursor or turn the direction of writing."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def _beside(a: Sequence[str], b: Sequence[str], first_a: int, end_a: int, first_b: int, end_b: int) -> Iterator[Row]:
    for i, j in zip_longest(range(first_a, end_a), range(first_b, end_b)):
        line_a, line_b = "" if i is None else a[i], "" if j is None else b[j]
        alone = i is None or j is None
        kind = DIFFERENT if alone or shape(line_a) != shape(line_b) else SAME if line_a.split() == line_b.split() else RENAMED
        yield Row(kind, 0 if i is None else i + 1, line_a, 0 if j is None else j + 1, line_b)
