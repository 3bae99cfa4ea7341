"""Cells that a reader edits and runs on the page: nothing is installed, and no server runs code.

``editable.py`` marks them when the book is built. In the browser, ``first_touch.js`` waits for a
reader to touch one; only then does it load ``editor.js``, which esbuild makes of the modules of
this folder and CodeMirror. Python runs in a worker inside a sandboxed frame of an origin of its
own, whose policy allows no request. The page fetches all files and hands them in, so what runs
there, possibly from a link that a stranger shared, reaches neither the network nor the page.
From the first run on, the browser keeps Python as it is once it has started (``image.js``), and
the pages that the reader visits (``service.js``).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.editor import editable
from warpwise.book.parts import Manifest

HERE = Path(__file__).parent
STATIC = HERE / "static"
SERVICE = "service.js"  #: at the root of a site, all of which it looks after


def add_files(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Load the small script and the style sheet on pages that have an editable cell.

    Where the parts of the editors could not be had, pages stay as they are without scripts."""
    if editable.has_editable(doctree) and Manifest.of(app.outdir):
        app.add_js_file("first_touch.js", loading_method="defer")
        app.add_css_file("editable.css")


def lay_service(app: Sphinx, error: Exception | None) -> None:
    """Copy the script that keeps visited pages for when there is no network to the site's root."""
    if error is None and Manifest.of(app.outdir):
        shutil.copyfile(HERE / SERVICE, Path(app.outdir) / SERVICE)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the mark and its files."""
    app.setup_extension("warpwise.book.markup")
    app.connect("builder-inited", lambda app: app.config.html_static_path.append(str(STATIC)))
    app.connect("doctree-read", editable.mark)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", lay_service)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
