"""Lay the labs when a build of HTML begins: the pages' buttons depend on whether they are there."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.lite.folder import FOLDER, fetched, lay
from warpwise.book.parts import Manifest, MissingPart
from warpwise.book.parts.laying import VARIABLE

log = logging.getLogger(__name__)


def lay_labs(app: Sphinx) -> None:
    """Lay the labs into the output if the runtime lies there; end the build if they are required.

    Where a part of them cannot be had they are left out, and one line says so."""
    if app.builder.format != "html":
        return
    site = Path(app.outdir)
    try:
        if (manifest := Manifest.of(site)) is not None:
            labs = sorted((Path(app.srcdir) / "labs").glob("[0-9]*.ipynb"))
            return _lay(site, manifest, labs)
    except MissingPart as missing:
        if os.environ.get(VARIABLE) == "required":
            raise ExtensionError(f"a part of JupyterLite is missing: {missing}") from missing
        log.info("the book is built without labs in the browser: %s", missing)
    shutil.rmtree(site / FOLDER, ignore_errors=True)


def _lay(site: Path, manifest: Manifest, labs: list[Path]) -> None:
    """Lay the labs unless they lie there, from the same sources."""
    sources = [manifest.sources.encode(), *(lab.read_bytes() for lab in labs)]
    mark, place = hashlib.sha256(b"".join(sources)).hexdigest(), site / FOLDER / "sources.txt"
    if not (place.is_file() and place.read_text("ascii") == mark):
        lay(site, fetched(log.info), labs)
        place.write_text(mark, "ascii")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect to Sphinx's event, after the runtime has been laid."""
    app.connect("builder-inited", lay_labs, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
