"""Limit the time of a call of student code, and measure its memory.

So an endless loop is a verdict and not a cell that hangs. Processor time counts, since a busy
machine must not fail a sound answer, and that of the call's own thread alone: NumPy's linear
algebra has a thread on every core, which uses up time while it waits, too. What waits is ended by a
wall limit PATIENCE times as long, in which the time that it waited for a processor does not count.
The limit needs a system with timers and the main thread, where a notebook runs its cells. On
Windows and in a browser there is none: a kernel ends by its budget of steps there, and an endless
host function by the reader who stops it. Left out: the time of other threads and processes that
the call starts, for which the wall limit has to do."""

from __future__ import annotations

import signal
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import FrameType

PATIENCE = 10  #: wall seconds for each second of processor time that a limit allows
MOST_PATIENCE = 10  #: wall limits, at most, for code that can wait for a processor again and again
AGAIN = 0.2  # seconds: code that catches every exception in a loop is interrupted again
LEAST = 0.001  # seconds until the next look at the time
LATE = 0.003  # seconds in which a signal on its way arrives


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


class at_most:
    """Raise TimeIsUp in the block once it has used so many seconds of processor time.

    Or once it has taken PATIENCE times as long; at its end too, if it caught that. ``used`` is the
    clock of processor time: of this thread, or ``time.process_time`` where the code has others."""

    def __init__(self, seconds: float, used: Callable[[], float] | None = None):
        self.seconds, self.most = seconds, PATIENCE * seconds
        self.used = used
        self.rung: TimeIsUp | None = None
        self.over = False
        in_main = threading.current_thread() is threading.main_thread()
        can_ring = hasattr(signal, "setitimer") and in_main
        self.timers: dict[int, int] = (
            {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
            if can_ring
            else {}
        )

    def __enter__(self) -> None:
        if self.timers:
            self.began, self.queued_before = time.monotonic(), queued()
            self.used = self.used or time.thread_time  # which a browser's Python lacks
            self.used_before = self.used()
        self.before = {number: signal.signal(number, self._ring) for number in self.timers}
        for number, timer in self.timers.items():
            signal.setitimer(timer, self.seconds if number == signal.SIGPROF else self.most, AGAIN)

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.over = True
        left = [signal.setitimer(timer, 0)[0] for timer in self.timers.values()]
        if self.rung or any(seconds < LEAST for seconds in left):
            time.sleep(LATE)  # a thread that was given a signal may not have run since
        for number in self.timers:
            signal.signal(number, signal.SIG_IGN)  # drops a signal on its way, which could kill
            signal.signal(number, self.before[number])
        if self.rung and error is None:
            raise self.rung

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self.over:
            return
        used = number == signal.SIGPROF
        if used and self.used is not None:  # by all threads together
            left = self.seconds - (self.used() - self.used_before)
        else:
            waited = queued() - self.queued_before
            left = self.most - counted(time.monotonic() - self.began, waited)
        if _is_around(frame) or (self.rung is None and left > 0):
            signal.setitimer(self.timers[number], max(left, LEAST), AGAIN)
            return
        self.rung = self.rung or TimeIsUp(waited=not used)
        signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
        raise self.rung


_AROUND = {each.__code__ for each in (at_most.__enter__, at_most.__exit__, at_most._ring)}


def _is_around(frame: FrameType | None) -> bool:
    """Return whether a signal came at a limit's begin or end, where an error would leave it on."""
    while frame is not None and frame.f_code not in _AROUND:
        frame = frame.f_back
    return frame is not None


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
