"""How long a call of student code may take, so that an endless loop is a verdict and not a cell that hangs; and what it holds in memory.

The limit needs a system with timers (not Windows) and the main thread, where a notebook runs its cells; elsewhere there is none.
"""

from __future__ import annotations

import signal
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN = 0.2  # seconds: code that catches every exception in a loop is told again


class TimeIsUp(BaseException):
    """A call took too long. No ``Exception``: code that catches its own errors must not catch this."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp in what stands inside once it has taken this long, and at its end if it caught that."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
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
    """What Python and NumPy held at most while the block below ran, beyond what they held before: ``most_bytes``. 0 if not ``watched``."""

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
