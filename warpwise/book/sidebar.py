"""Fold the sidebar: the course stands open, and what few readers need opens at a click.

A part of the table of contents after the first is folded, unless the page that is shown is in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

CAPTION = re.compile(r'<p [^>]*class="caption"[^>]*>(.*?)</p>\s*', re.DOTALL)
CURRENT = re.compile(r'class="[^"]*\bcurrent\b')
AFTER_THE_THEME = 900  #: of the event's listeners, whose priority is 500


def fold(contents: str) -> str:
    """Return the sidebar's HTML with each part after the first as a ``details`` element."""
    before, *parts = CAPTION.split(contents)
    pairs = list(zip(parts[::2], parts[1::2], strict=True))
    first = "".join(
        f'<p class="caption" role="heading" aria-level="2">{c}</p>{x}' for c, x in pairs[:1]
    )
    return before + first + "".join(_folded(caption, links) for caption, links in pairs[1:])


def _folded(caption: str, links: str) -> str:
    is_open = " open" if CURRENT.search(links) else ""
    end = links.rindex("</ul>") + len("</ul>")
    return (
        f'<details class="ww-part"{is_open}><summary class="caption">{caption}</summary>'
        f"{links[:end]}</details>{links[end:]}"
    )


def prepare(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Fold what the theme's template gets as its table of contents."""
    theirs: Callable[..., Any] | None = context.get("generate_toctree_html")
    if theirs is not None:
        context["generate_toctree_html"] = lambda *args, **kwargs: fold(
            str(theirs(*args, **kwargs))
        )


def setup(app: Sphinx) -> ExtensionMetadata:
    """Listen after the theme, which puts the function there."""
    app.connect("html-page-context", prepare, priority=AFTER_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
