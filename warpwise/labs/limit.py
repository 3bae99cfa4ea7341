"""Limit the time of a call of student code, and measure its memory.

So an endless loop is a verdict and not a cell that hangs. The limit needs a system with timers (not
Windows) and the main thread, where a notebook runs its cells; elsewhere there is none."""

from __future__ import annotations

import signal
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN = 0.2  # seconds: code that catches every exception in a loop is interrupted again


class TimeIsUp(BaseException):
    """A call took too long. No ``Exception``, so that code which catches those lets it pass."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp in the block once it has taken this long, and at its end if it caught that."""
    in_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not in_main:
        yield
        return
    rung = []

    def ring(number: int, frame: object) -> None:
        rung.append(number)
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if rung:
        raise TimeIsUp


class Memory:
    """Measures ``most_bytes``: the peak of Python's and NumPy's memory in the block, beyond before.

    It is 0 if not ``watched``."""

    def __init__(self, watched: bool):
        self.watched, self.most_bytes = watched, 0

    def __enter__(self) -> Memory:
        if self.watched:
            tracemalloc.start()
            self.before, _ = tracemalloc.get_traced_memory()
        return self

    def __exit__(self, *error: object) -> None:
        if self.watched:
            self.most_bytes = tracemalloc.get_traced_memory()[1] - self.before
            tracemalloc.stop()
