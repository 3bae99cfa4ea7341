"""Lay the labs when a build of HTML begins: the pages' buttons depend on them."""

from __future__ import annotations

import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.lite.folder import FOLDER, lay
from warpwise.book.parts import MissingPart

log = logging.getLogger(__name__)
