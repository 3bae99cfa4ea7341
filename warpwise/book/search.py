"""Search the site as one types: Pagefind's index, made of the finished pages.

``search.js`` asks it in the theme's dialog, without a server. Opened from a disk, where a browser
loads no index, the site still has Sphinx's own search page.

Pagefind finds sections by headings with an id, which Sphinx gives to the elements around them. It
reads copies of the pages in which headings, and entries of the glossary and reference, have them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.postprocess import prune

FOLDER = "_static/pagefind"
KEPT = ("pagefind.js", "pagefind-worker.js", "pagefind-entry.json", "fragment", "index")
SECTION = re.compile(
    r'<section([^>]*?) id="([^"]+)"([^>]*>\s*(?:<span id="[^"]+"></span>\s*)*<h[1-6])'
)
ENTRY = re.compile(r"<dt([^>]* id=[^>]*)>(.*?)</dt>", re.DOTALL)
LATE = 800  #: of the listeners for a finished build: when every page is as it stays


def build_index(app: Sphinx, error: Exception | None) -> None:
    """Index the articles of a built HTML site. Raises ExtensionError where that fails."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier build, whose names differ
    with TemporaryDirectory() as copies:
        copy_pages(Path(app.outdir), Path(copies))
        options = ["--site", copies, "--output-path", str(folder), "--root-selector", "article"]
        command = [sys.executable, "-m", "pagefind", *options, "--exclude-selectors", ".headerlink"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        why = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise ExtensionError(f"the site was not indexed for its search: {' '.join(why)}")
    languages = (path.name for path in folder.glob("*.pf_meta"))
    prune(folder, (*KEPT, *languages, *(path.name for path in folder.glob("wasm.*.pagefind"))))


def copy_pages(site: Path, copies: Path) -> None:
    """Copy a site's pages, with headings that Pagefind takes for the beginning of a section."""
    for page in site.rglob("*.html"):
        place = page.relative_to(site)
        if place.parts[0] != "_static":
            (copies / place).parent.mkdir(parents=True, exist_ok=True)
            (copies / place).write_text(with_headings(page.read_text("utf-8")), "utf-8")


def with_headings(html: str) -> str:
    """Move the ids of sections to their headings, and make headings of entries with an id."""
    html = SECTION.sub(r'<section\1\3 id="\2"', html)
    return ENTRY.sub(r"<h6\1>\2</h6>", html)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Index at the end, and load the script on each page."""
    app.add_js_file("search.js", loading_method="defer")
    app.connect("build-finished", build_index, priority=LATE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
