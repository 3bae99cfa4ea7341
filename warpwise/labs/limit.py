"""Limit the time of a call of student code, and measure its memory.

So an endless loop is a verdict and not a cell that hangs. Processor time counts, since a busy
machine must not fail a sound answer, and that of the call's own thread alone: NumPy's linear
algebra has a thread on every core, which uses up time while it waits, too. What waits is ended by a
wall limit PATIENCE times as long, in which the time that it waited for a processor does not count.
The limit needs a system with timers (not Windows) and the main thread, where a notebook runs its
cells; elsewhere there is none. Left out: the time of other threads and processes that the call
starts, for which the wall limit has to do."""

from __future__ import annotations

import signal
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 10  #: wall seconds for each second of processor time that a limit allows
MOST_PATIENCE = 10  #: wall limits, at most, for code that can wait for a processor again and again
AGAIN = 0.2  # seconds: code that catches every exception in a loop is interrupted again
LEAST = 0.001  # seconds until the next look at the time


class TimeIsUp(BaseException):
    """A call took too long. No ``Exception``, so that code which catches those lets it pass.

    ``waited`` is False if it used up its processor time, True if the wall limit ended it."""

    def __init__(self, waited: bool):
        super().__init__()
        self.waited = waited


def queued(pid: int | str = "self") -> float:
    """Return the seconds that a process's main thread was ready to run and had no processor.

    It is 0 where the system does not count them, and for a process that has ended."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text("ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def counted(wall_seconds: float, queued_seconds: float) -> float:
    """Return how many of so many wall seconds count against a wall limit."""
    return max(wall_seconds - queued_seconds, wall_seconds / MOST_PATIENCE)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp in the block once it has used so many seconds of processor time.

    Or once it has taken PATIENCE times as long; at its end too, if it caught that."""
    in_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not in_main:
        yield
        return
    rung: list[TimeIsUp] = []
    over, most = False, PATIENCE * seconds
    began, used_before, queued_before = time.monotonic(), time.thread_time(), queued()

    def ring(number: int, frame: object) -> None:
        if over:
            return
        used = number == signal.SIGPROF
        if used:  # by all threads together
            timer, left = signal.ITIMER_PROF, seconds - (time.thread_time() - used_before)
        else:
            timer = signal.ITIMER_REAL
            left = most - counted(time.monotonic() - began, queued() - queued_before)
        if not rung and left > 0:
            signal.setitimer(timer, max(left, LEAST), AGAIN)
            return
        rung.append(TimeIsUp(waited=not used))
        signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
        raise rung[0]

    before = {number: signal.signal(number, ring) for number in (signal.SIGPROF, signal.SIGALRM)}
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, most, AGAIN)
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
