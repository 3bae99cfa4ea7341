"""Lay the parts when a build of HTML begins: what is missing is said before any cell runs."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

from warpwise.book.parts import MissingPart, lay

log = logging.getLogger(__name__)


def lay_parts(app: Sphinx) -> None:
    """Lay the parts into the output; end the build if one is required and missing."""
    if app.builder.format == "html":
        try:
            lay(Path(app.outdir), log.info)
        except MissingPart as missing:
            raise ExtensionError(f"a part of the editors is missing: {missing}") from missing


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's event."""
    app.connect("builder-inited", lay_parts)
