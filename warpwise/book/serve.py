"""The build of ``make serve``: outputs outlive it, and no page shows stale output silently.

Sphinx reads a page again when its text has changed. Here its cells run again only if their text or
the package has changed. After a change in the package, the page that was saved last is built again
at once. The others would take a minute or two, so each carries a note until it is saved or
``make book`` builds the site anew.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

# Files that cells read, import or draw with, below the book's root.
SOURCES = ("warpwise/**/*.py", "warpwise/**/*.js", "warpwise/**/*.css", "measurements/**/*.json")
# Sphinx copies these in every build.
COPIED = "warpwise/book/static"
ARTICLE = re.compile(r'<article class="bd-article"[^>]*>')
NOTE = (
    '<div class="admonition warning" id="stale"><p class="admonition-title">Out of date</p>'
    "<p>The package has changed since this page was built. "
    "Save the page to build it again.</p></div>"
)
log = logging.getLogger(__name__)


def changed(root: Path) -> int:
    """Return when the package was last changed, in microseconds, as Sphinx counts time."""
    paths = (path for pattern in SOURCES for path in root.glob(pattern))
    times = [path.stat().st_mtime_ns for path in paths if not path.is_relative_to(root / COPIED)]
    return max(times) // 1000


def results(root: Path) -> Path:
    """Return the folder for outputs of the package as it is now; delete those of its past."""
    folder = root / "_build/serve" / str(changed(root))
    for other in folder.parent.glob("*"):
        if other != folder:
            shutil.rmtree(other)
    return folder


def read_last_saved(
    app: Sphinx, env: BuildEnvironment, added: set[str], outdated: set[str], removed: set[str]
) -> list[str]:
    """Read the page that was saved last again if the package has changed since it was read."""
    last = max(env.found_docs, key=lambda page: Path(env.doc2path(page)).stat().st_mtime_ns)
    return [last] if last in stale(app, env) else []


def stale(app: Sphinx, env: BuildEnvironment) -> set[str]:
    """Return the pages that were read before the package was last changed."""
    now = changed(Path(app.srcdir))
    return {page for page, read in env.all_docs.items() if read < now}


def mark(app: Sphinx, error: Exception | None) -> None:
    """Put the note on each built page that is out of date, and count these pages."""
    if error is not None:
        return
    pages = stale(app, app.env)
    for page in pages:
        path = app.outdir / f"{page}.html"
        html = path.read_text("utf-8")
        if NOTE not in html:
            path.write_text(ARTICLE.sub(lambda found: found[0] + NOTE, html, count=1), "utf-8")
    if pages:
        log.warning("the package has changed since %d pages were built: each says so", len(pages))


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's events."""
    app.connect("env-get-outdated", read_last_saved)
    app.connect("build-finished", mark)
