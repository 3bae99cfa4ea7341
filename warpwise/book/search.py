"""Search the site as one types: Pagefind's index, made of the finished pages.

``search.js`` asks it in the theme's dialog, without a server. Opened from a disk, where a browser
loads no index, the site still has Sphinx's own search page.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.postprocess import prune

FOLDER = "_static/pagefind"
KEPT = ("pagefind.js", "pagefind-worker.js", "pagefind-entry.json", "fragment", "index")
LATE = 800  #: of the listeners for a finished build: when every page is as it stays


def build_index(app: Sphinx, error: Exception | None) -> None:
    """Index the articles of a built HTML site. Raises ExtensionError where that fails."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier build, whose names differ
    options = ["--site", str(app.outdir), "--output-subdir", FOLDER, "--root-selector", "article"]
    command = [sys.executable, "-m", "pagefind", *options, "--exclude-selectors", ".headerlink"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        why = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise ExtensionError(f"the site was not indexed for its search: {' '.join(why)}")
    languages = (path.name for path in folder.glob("*.pf_meta"))
    prune(folder, (*KEPT, *languages, *(path.name for path in folder.glob("wasm.*.pagefind"))))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Index at the end, and load the script on each page."""
    app.add_js_file("search.js", loading_method="defer")
    app.connect("build-finished", build_index, priority=LATE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
