"""Streams and events of the simulator: all work is done when its call returns, so nothing waits.

An event keeps the wall-clock time. The time between two of them is how long the simulator took, and
says nothing about a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from warpwise.errors import LaunchError


class Stream:
    """``cuda.stream()``: its work is done in order, at once."""

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

    async def async_done(self) -> None:
        return None

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "<simulated stream>"


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


def external_stream(ptr: int) -> Stream:
    """Return a stream made elsewhere; here every stream is the same."""
    return Stream()


HOST: dict[str, object] = {
    "stream": Stream,
    "default_stream": Stream,
    "legacy_default_stream": Stream,
    "per_thread_default_stream": Stream,
    "external_stream": external_stream,
    "event": Event,
    "event_elapsed_time": event_elapsed_time,
    "synchronize": synchronize,
}
