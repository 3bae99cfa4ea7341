"""Where tests run host functions: each in a sandbox of its own, or in a room of one for many."""

from __future__ import annotations

import atexit
import os
from functools import cache, partial

from warpwise.grading import parts, sandbox, watch
from warpwise.grading.grader import Served
from warpwise.grading.warm import Warm

MODES = (sandbox.ROOT, sandbox.USER) if os.geteuid() == 0 else (sandbox.USER,)
ROOM = ", in a room"
PLACES = (*MODES, *(mode + ROOM for mode in MODES))


def of(place: str) -> tuple[str, Warm | None]:
    """Return the mode of a place, and the warm sandbox if its functions have rooms."""
    mode = place.removesuffix(ROOM)
    return mode, None if mode == place else _served(mode).get()


def play(job: parts.Job, place: str, limits: watch.Limits | None = None) -> watch.Finished:
    """Run a job of host functions in a place."""
    return sandbox.play(parts.FUNCTIONS, job, *of(place), limits)


@cache
def _served(mode: str) -> Served:
    served = Served(partial(sandbox.warm, parts.FUNCTIONS, mode))
    atexit.register(served.close)
    return served
