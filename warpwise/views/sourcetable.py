"""The table of a traced kernel's source lines, and the choice of the requests that a view carries.

Shared by the views that show a kernel line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from warpwise.errors import TraceError
from warpwise.traces import Trace

MOST_REQUESTS = 384  #: that a view carries, all choices together: keeps its data small

#: In a narrow place each source line stands above its figures.
NARROW = """<style>@container (max-width: 420px) {
  .listing :is(table, thead, tbody) { display: block; }
  .listing tr { display: grid; grid-template-columns: repeat(var(--figures), 1fr); }
  .listing tbody tr { border-top: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
  .listing tr > :last-child { grid-column: 1 / -1; order: -1; text-align: left; }
  .listing thead th:last-child { display: none; }
  .listing td, .listing td code { line-height: 20px; min-width: 0; }
}</style>"""


def table(label: str, heads: Iterable[str], rows: Iterable[Sequence[str | int]]) -> str:
    """Return a table that scrolls where it is too wide, unless the place is narrow.

    Cells and heads are HTML; the last cell of a row is the text of its source line."""
    heads = tuple(heads)
    head = "".join(f'<th scope="col">{title}</th>' for title in heads)
    body = "".join(_row(*row) for row in rows)
    return (
        f'{NARROW}<div class="listing" style="overflow-x:auto;--figures:{len(heads) - 1}" '
        f'tabindex="0" role="group" aria-label="{escape(label)}">'
        f"<table><thead><tr>{head}</tr></thead>"
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
