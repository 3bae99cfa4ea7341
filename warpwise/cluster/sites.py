"""Call sites: the line of a program that calls into the cluster, as messages name it."""

from __future__ import annotations

import sys
from pathlib import Path

import warpwise
from warpwise.errors import Location
from warpwise.simt.frontend.source import shown

PACKAGE = str(Path(warpwise.__file__).parent)


def call_site() -> str:
    """Return the nearest line outside this package that led here: ``ring.py:12``."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    code = frame.f_code
    return Location(shown(code.co_filename), frame.f_lineno, "", function=code.co_name).place
