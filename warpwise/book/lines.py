"""Give each line of a code box an element of its own, with its indentation.

On a phone and on paper ``warpwise.css`` wraps such a line behind its indentation and marks where it
goes on. What a box holds as text stays the same, so copying it and opening its editor do too.
"""

from __future__ import annotations

import re
from html import unescape

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.markup import rewrite_bodies

BOX = re.compile(r'(<div class="highlight"><pre>(?:<span></span>)?)(.*?)(</pre>)', re.DOTALL)
TAG = re.compile(r"<[^>]*>")
NUMBER = re.compile(r'<span class="linenos">([^<]*)</span>')  # of a line, in some listings
MOST = 24  #: of an indentation that is kept where a line goes on, in characters


def with_lines(body: str) -> str:
    """Return a page's body with the lines of its code boxes in elements.

    Pygments closes its own at the end of each line, and opens them anew in the next."""
    return BOX.sub(lambda box: box[1] + _lines(box[2]) + box[3], body)


def indentation(line: str) -> int:
    """Return how many characters stand before a line's first word: spaces, and its number."""
    number = NUMBER.match(line)
    text = unescape(TAG.sub("", line[number.end() :] if number else line))
    before = len(number[1]) + 1 if number else 0
    return min(before + len(text) - len(text.lstrip()), MOST)


def _lines(code: str) -> str:
    *lines, rest = code.split("\n")
    return "".join(f"{_element(line)}\n" for line in lines) + (rest and _element(rest))


def _element(line: str) -> str:
    indent = indentation(line)
    style = f' style="--i:{indent}"' if indent else ""
    return f'<span class="ww-l"{style}>{line}</span>'


def setup(app: Sphinx) -> ExtensionMetadata:
    """Do so on every page."""
    rewrite_bodies(app, lambda app, body: with_lines(body))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
