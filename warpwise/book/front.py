"""The page at the site's root, which leads on to the first page of the book.

sphinx_external_toc would write one of a single line; without an icon of its own it lets a browser ask the server's root for one, which
is no part of the site.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from sphinx.application import Sphinx

PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title><link rel="icon" href="{icon}">
<meta http-equiv="refresh" content="0; url={first}"></head><body><p><a href="{first}">{title}</a></p></body></html>
"""


def write_front(app: Sphinx, error: Exception | None) -> None:
    """Write ``index.html`` where the book's first page has another name."""
    config = app.config
    if error is not None or app.builder.format != "html" or config.root_doc == "index":
        return
    icon = f"_static/{Path(config.html_favicon).name}" if config.html_favicon else "data:,"
    first = app.builder.get_target_uri(config.root_doc)
    page = PAGE.format(language=config.language, title=escape(config.html_title), icon=icon, first=first)
    (Path(app.outdir) / "index.html").write_text(page, "utf-8")
