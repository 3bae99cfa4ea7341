"""Streams and events of the simulator: all work is done when its call returns, so nothing waits.

An event keeps the wall-clock time. The time between two of them is how long the simulator took, and
says nothing about a GPU."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from warpwise.errors import LaunchError

_HANDLES = itertools.count(3)  # CUDA's handles 1 and 2 are those of its default streams
LEGACY, PER_THREAD = 1, 2


class Stream:
    """``cuda.stream()``: its work is done in order, at once.

    ``handle``: an integer that tells streams apart. ``external``: made by another library."""

    def __init__(self, handle: int | None = None, external: bool = False) -> None:
        self.handle = next(_HANDLES) if handle is None else int(handle)
        self.external = external

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        yield self

    def add_callback(
        self, callback: Callable[[Stream, int, object], object], arg: object = None
    ) -> None:
        """Call ``callback(stream, status, arg)`` once the work so far is done: now."""
        callback(self, 0, arg)

    async def async_done(self) -> Stream:
        return self

    def __int__(self) -> int:
        return self.handle

    def __bool__(self) -> bool:
        return bool(self.handle)

    def __repr__(self) -> str:
        return f"<simulated stream {self.handle}>"


class Event:
    """``cuda.event()``: a moment on the host's clock, once it is recorded."""

    def __init__(self, timing: bool = True) -> None:
        self.timing = timing
        self.seconds: float | None = None

    def record(self, stream: object = 0) -> None:
        self.seconds = time.perf_counter()

    def query(self) -> bool:
        """Return True: all work before it is done."""
        return True

    def wait(self, stream: object = 0) -> None:
        """Nothing is left to wait for."""

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def elapsed_time(self, evtend: Event) -> float:
        """Return the milliseconds of the host's clock from this event to another.

        Raises LaunchError unless both were recorded."""
        if self.seconds is None or evtend.seconds is None:
            raise LaunchError(
                "elapsed_time() needs two events that were recorded: "
                "event.record() before and after the work"
            )
        return 1e3 * (evtend.seconds - self.seconds)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Return the milliseconds between two recorded events."""
    return evtstart.elapsed_time(evtend)


def synchronize() -> None:
    """Nothing is left to wait for."""


def default_stream() -> Stream:
    """Return the stream of work that names none."""
    return Stream(0)


def legacy_default_stream() -> Stream:
    """Return CUDA's legacy default stream; here every stream is alike."""
    return Stream(LEGACY)


def per_thread_default_stream() -> Stream:
    """Return the default stream of the host's thread; here every stream is alike."""
    return Stream(PER_THREAD)


def external_stream(ptr: int) -> Stream:
    """Return a stream that another library made, by its handle."""
    return Stream(ptr, external=True)


HOST: dict[str, object] = {
    "stream": Stream,
    "default_stream": default_stream,
    "legacy_default_stream": legacy_default_stream,
    "per_thread_default_stream": per_thread_default_stream,
    "external_stream": external_stream,
    "event": Event,
    "event_elapsed_time": event_elapsed_time,
    "synchronize": synchronize,
}
