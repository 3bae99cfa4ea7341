"""Where tests run host functions: each in a sandbox of its own, or in a room of one for many.

A module of tests that takes rooms has the fixture ``closed_rooms``: none stays for the next."""

from __future__ import annotations

import os
from functools import cache, partial

from warpwise.errors import GradingError
from warpwise.grading import parts, sandbox, watch
from warpwise.grading.grader import Served
from warpwise.grading.warm import Warm

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0  # Windows has no such number
MODES = (sandbox.ROOT, sandbox.USER) if AS_ROOT else (sandbox.USER,)
ROOM = ", in a room"
PLACES = (*MODES, *(mode + ROOM for mode in MODES))


def of(place: str) -> tuple[str, Warm | None]:
    """Return the mode of a place, and the warm sandbox if its functions have rooms."""
    mode = place.removesuffix(ROOM)
    return mode, None if mode == place else _served(mode).get()


def found() -> tuple[str, Warm | None]:
    """Return the mode that works here, with a warm sandbox; without one where none does."""
    mode = _isolation()
    return (mode, None) if mode == sandbox.NONE else of(mode + ROOM)


@cache
def _isolation() -> str:
    try:
        return sandbox.isolation()
    except GradingError:
        return sandbox.NONE


def play(job: parts.Job, place: str, limits: watch.Limits | None = None) -> watch.Finished:
    """Run a job of host functions in a place."""
    return sandbox.play(parts.FUNCTIONS, job, *of(place), limits)


_kept: dict[str, Served] = {}


def _served(mode: str) -> Served:
    if mode not in _kept:
        _kept[mode] = Served(partial(sandbox.warm, parts.FUNCTIONS, mode))
    return _kept[mode]


def close() -> None:
    """Close the sandboxes that have rooms; another is started when it is needed."""
    for served in _kept.values():
        served.close()
    _kept.clear()
