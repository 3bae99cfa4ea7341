"""The table of a traced kernel's source lines, and the choice of the requests that a view carries.

Shared by the views that show a kernel line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from warpwise.errors import TraceError
from warpwise.traces import Trace

MOST_REQUESTS = 384  #: that a view carries, all choices together: keeps its data small


def table(label: str, heads: Iterable[str], rows: Iterable[Sequence[str | int]]) -> str:
    """Return a table that scrolls where it is too wide; on a phone, source stands above figures.

    Cells and heads are HTML; the last cell of a row is the text of its source line."""
    heads = tuple(heads)
    head = "".join(f'<th scope="col">{title}</th>' for title in heads)
    body = "".join(_row(*row) for row in rows)
    return (
        f'<div class="listing" style="overflow-x:auto;--figures:{len(heads) - 1}" tabindex="0" '
        f'role="group" aria-label="{escape(label)}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def heading(place: str) -> str:
    """Return a line in words as a sentence begins with it: ``Line 5``, or ``In load_tile``."""
    return f"L{place[1:]}" if place.startswith("line ") else f"In {place}"


def around(worst: int, most: int, total: int) -> range:
    """Return the places of at most ``most`` out of ``total`` requests, around the worst.

    The worst is in their middle as far as there are enough on both sides."""
    first = max(0, min(worst - most // 2, total - most))
    return range(first, min(first + most, total))


def check_line(trace: Trace, line: int | None, able: Iterable[int], what: str) -> None:
    """Raise TraceError if ``line`` is given and is none of those that have ``what``."""
    able = dict.fromkeys(able)
    if line is not None and line not in able:
        have = ", ".join(map(str, able)) or "none"
        raise TraceError(
            f"line {line} of {trace.kernel} has no {what} to show; lines that have: {have}"
        )


def _row(*cells: str | int) -> str:
    *numbers, code = cells
    shown = "".join(f"<td>{cell}</td>" for cell in numbers)
    source = f'<code style="white-space:pre-wrap">{escape(str(code))}</code>'
    return f"<tr>{shown}<td>{source}</td></tr>"
