"""Limit the time of a call of student code, and measure its memory.

So an endless loop is a verdict and not a cell that hangs. Processor time counts, since a busy
machine must not fail a sound answer; what waits is ended by a wall limit PATIENCE times as long.
The limit needs a system with timers (not Windows) and the main thread, where a notebook runs its
cells; elsewhere there is none. Left out: the time of other processes that the call starts, for
which the wall limit has to do."""

from __future__ import annotations

import signal
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 10  #: wall seconds for each second of processor time that a limit allows
AGAIN = 0.2  # seconds: code that catches every exception in a loop is interrupted again


class TimeIsUp(BaseException):
    """A call took too long. No ``Exception``, so that code which catches those lets it pass.

    ``waited`` is False if it used up its processor time, True if the wall limit ended it."""

    def __init__(self, waited: bool):
        super().__init__()
        self.waited = waited


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp in the block once it has used so many seconds of processor time.

    Or once it has taken PATIENCE times as long; at its end too, if it caught that."""
    in_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not in_main:
        yield
        return
    rung: list[TimeIsUp] = []
    over = False

    def ring(number: int, frame: object) -> None:
        if over:
            return
        rung.append(TimeIsUp(waited=number == signal.SIGALRM))
        signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
        raise rung[0]

    before = {number: signal.signal(number, ring) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds, AGAIN)
    try:
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
    if rung:
        raise rung[0]


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
