"""This machine's slowness, for shortened limits: a slow one must not fail a sound answer."""

from __future__ import annotations

import time
from functools import cache

NOMINAL_SECONDS = 0.045  # processor time where the tests' limits were chosen


@cache
def pace() -> float:
    """Return how many times longer Python takes here than there, at least 1."""
    return max(1.0, min(_seconds() for _ in range(3)) / NOMINAL_SECONDS)


def _seconds() -> float:
    start = time.process_time()
    sum(i * i % 7 for i in range(1_000_000))
    return time.process_time() - start
