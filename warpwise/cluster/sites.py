"""Where a program is, as messages name it: its line that calls into the cluster, and its rank."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from pathlib import Path
from types import CodeType

import warpwise
from warpwise.errors import ClusterError, Location
from warpwise.simt.frontend.source import shown

PACKAGE = str(Path(warpwise.__file__).parent) + os.sep
#: the site of calls that a program makes for another, which runs elsewhere
SITE: ContextVar[str] = ContextVar("SITE", default="")


def note_rank(error: Exception, rank: int) -> None:
    """Add to an error the rank that it was found in.

    The cluster's own errors name their ranks, and may have been found in another one."""
    if not isinstance(error, ClusterError):
        error.add_note(f"in rank {rank} of a cluster")


def call_site() -> str:
    """Return the nearest line outside this package that led here: ``ring.py:12``.

    Of a program that sets SITE it is that."""
    if SITE.get():
        return SITE.get()
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return place_of(frame.f_code, frame.f_lineno)


def place_of(code: CodeType, line: int) -> str:
    """Return a line of a program's code as messages name it."""
    return Location(shown(code.co_filename), line, "", function=code.co_name).place
