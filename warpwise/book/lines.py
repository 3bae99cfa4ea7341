"""Give each line of a code box that may not fit an element of its own, with its indentation.

On a phone and on paper ``warpwise.css`` wraps such a line behind its indentation and marks where
it goes on. A table that a cell prints keeps its rows instead: its box says how long the longest is,
and the sheet makes its letters small enough. What a box holds as text stays the same, so copying it
and opening its editor do too.
"""

from __future__ import annotations

import re
from html import unescape

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.markup import rewrite_bodies

BOX = re.compile(r'(<div class="highlight"><pre>(?:<span></span>)?)(.*?)(</pre>)', re.DOTALL)
OUTPUT = re.compile(
    r'(highlight-myst-ansi[^>]*>\s*<div class="highlight)("><pre>)(.*?)(</pre>)', re.DOTALL
)
GAP = re.compile(r"\S {2,}(?=\S)")
TAG = re.compile(r"<[^>]*>")
NUMBER = re.compile(r'<span class="linenos">([^<]*)</span>')  # of a line, in some listings
COLUMNS = 3  #: of a table, at least
WIDEST = 80  #: characters of a table's rows, whose letters can still be read on a phone
SHORT = 30  #: characters that fit into the narrowest box
MOST = 24  #: of an indentation that is kept where a line goes on, in characters


def with_lines(body: str) -> str:
    """Return a page's body with the lines of its code boxes in elements.

    Pygments closes its own at the end of each line, and opens them anew in the next."""
    body = OUTPUT.sub(_table, body)
    return BOX.sub(lambda box: box[1] + _lines(box[2]) + box[3], body)


def _table(box: re.Match[str]) -> str:
    """Return a printed box with its width in characters, if it is a table: rows of columns."""
    lines = [unescape(TAG.sub("", line)).rstrip() for line in box[3].split("\n")]
    longest = max(map(len, lines))
    rows = sum(len(GAP.findall(line.strip())) >= COLUMNS - 1 for line in lines)
    if rows < 2 or longest > WIDEST:
        return box[0]
    return f'{box[1]} ww-table" style="--n:{longest}{box[2]}{box[3]}{box[4]}'


def _lines(code: str) -> str:
    return "\n".join(map(element, code.split("\n")))


def element(line: str) -> str:
    """Return a line in an element that says how many characters stand before its first word.

    These are spaces, and its number. A short line stays as it is."""
    number = NUMBER.match(line)
    text = unescape(TAG.sub("", line[number.end() :] if number else line)).rstrip()
    before = len(number[1]) + 1 if number else 0
    if before + len(text) <= SHORT:
        return line
    indent = min(before + len(text) - len(text.lstrip()), MOST)
    style = f' style="--i:{indent}"' if indent else ""
    return f'<span class="ww-l"{style}>{line}</span>'


def setup(app: Sphinx) -> ExtensionMetadata:
    """Do so on every page."""
    rewrite_bodies(app, lambda app, body: with_lines(body))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
