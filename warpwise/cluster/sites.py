"""Call sites: the line of a program that calls into the cluster, as messages name it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import CodeType

import warpwise
from warpwise.errors import Location
from warpwise.simt.frontend.source import shown

PACKAGE = str(Path(warpwise.__file__).parent) + os.sep


def call_site() -> str:
    """Return the nearest line outside this package that led here: ``ring.py:12``."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return place_of(frame.f_code, frame.f_lineno)


def place_of(code: CodeType, line: int) -> str:
    """Return a line of a program's code as messages name it."""
    return Location(shown(code.co_filename), line, "", function=code.co_name).place
