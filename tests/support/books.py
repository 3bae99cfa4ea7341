"""Small books for tests of the book's extension: pages as text, built by Sphinx in-process."""

from __future__ import annotations

import gc
import io
import re
from dataclasses import dataclass
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

SETTINGS = {
    "extensions": ["myst_parser", "sphinx.ext.mathjax", "warpwise.book.quiz"],
    "myst_enable_extensions": ["colon_fence", "dollarmath", "tasklist"],
    "mathjax_path": "mathjax.js",
    "html_theme": "basic",
    "include_patterns": ["**.md"],
}


@dataclass(frozen=True)
class Book:
    """A built book: its folder of HTML, and Sphinx's warnings."""

    folder: Path
    warnings: str

    def html(self, page: str) -> str:
        return (self.folder / f"{page}.html").read_text("utf-8")


def build_book(folder: Path, pages: dict[str, str], **settings) -> Book:
    """Write and build the pages; the first leads to the others.

    A second build in the same folder reads what changed."""
    for name, text in pages.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    first, *others = pages
    if others and "external_toc_path" not in settings:
        with (folder / f"{first}.md").open("a", encoding="utf-8") as file:
            file.write("\n\n```{toctree}\n" + "\n".join(f"/{name}" for name in others) + "\n```\n")
    warnings = io.StringIO()
    # Sphinx enters the suffixes of its extensions here; into its default, for all later builds
    suffixes = {".rst": "restructuredtext"}
    overrides = {**SETTINGS, "source_suffix": suffixes, "root_doc": first, **settings}
    # sphinx_external_toc asks every object that gc lists for its class, and other tests keep
    # objects that mind
    gc.freeze()
    try:
        with patch_docutils(), docutils_namespace():
            app = Sphinx(
                folder,
                None,
                folder / "html",
                folder / "doctrees",
                "html",
                overrides,
                status=None,
                warning=warnings,
            )
            app.build()
    finally:
        gc.unfreeze()
    return Book(folder / "html", re.sub(r"\x1b\[\d+(;\d+)*m", "", warnings.getvalue()))
