"""A student's own cell on their page: each line with its number, and marks on those named above.

What is named are lines in the message on a failure, and for a budget the line under the picture,
if something is wasted there. The text is hostile: it is cut to size, and nothing in it moves a
cursor or turns a line around."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from warpwise.grading.record import Finding, Result
from warpwise.labs import still
from warpwise.labs.exercise import Reason

MOST_LINES, MOST_COLUMNS = 200, 160
LINES_BEFORE = 100  #: that stay above the first marked one of a longer cell
#: at the beginning of a line, where no quoted text can have it
NAMED = re.compile(r"^ *(?:at )?[Ll]ine (\d{1,6})\b", re.M)
TAGS = re.compile(r"<[^>]*>")
CAPTION = re.compile(r"<figcaption>(.*?)</figcaption>", re.S)


@dataclass(frozen=True)
class Line:
    """A line of the cell, counted from 1; ``marked`` if a message is about it."""

    number: int
    text: str
    marked: bool = False


@dataclass(frozen=True)
class Listing:
    """The lines that are shown; ``before`` and ``after`` count those that are not."""

    lines: tuple[Line, ...] = ()
    before: int = 0
    after: int = 0

    @property
    def marked(self) -> bool:
        return any(line.marked for line in self.lines)


def listing(result: Result) -> Listing:
    """Return the text of an answer's cell."""
    texts = result.text.rstrip().splitlines()
    named = _named(result.finding, texts)
    first = max(0, min(named, default=1) - 1 - LINES_BEFORE) if len(texts) > MOST_LINES else 0
    shown = texts[first : first + MOST_LINES]
    lines = (Line(n, _clean(text), n in named) for n, text in enumerate(shown, first + 1))
    return Listing(tuple(lines), first, len(texts) - first - len(shown))


def caption(picture: str) -> str:
    """Return the caption of a picture as plain text."""
    return " ".join(unescape(TAGS.sub("", one)) for one in CAPTION.findall(picture))


def _named(finding: Finding, texts: list[str]) -> set[int]:
    """Return the numbers of the lines that are named; those of other cells are not positive.

    The picture shows the line that wastes most. It is at fault only if a budget is exceeded, and if
    anything is wasted there at all."""
    drawn = caption(finding.picture)
    over = finding.reason.startswith(Reason.OVER_BUDGET) and still.NOTHING_WASTED not in drawn
    said = finding.detail + (f"\n{drawn}" if over else "")
    return {int(found) for found in NAMED.findall(said)} & {*range(1, len(texts) + 1)}


def _clean(text: str) -> str:
    text = text.expandtabs(4)
    cut = text if len(text) <= MOST_COLUMNS else text[: MOST_COLUMNS - 1] + "…"
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in cut)
