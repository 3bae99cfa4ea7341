"""Keep the traces of launches that other code makes, as a program does that is run to be timed.

``kernel[blocks, threads](...)`` counts and throws its trace away, and a program hands none out.
While somebody gathers, every launch of this thread also records its first block, if it records
none, since what accesses cost is read from addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from warpwise.traces import Trace

FIRST_BLOCK = (0,)
_TAKE: ContextVar[Callable[[Trace], None] | None] = ContextVar("take", default=None)


@contextmanager
def gathered(take: Callable[[Trace], None]) -> Iterator[None]:
    """Hand every trace that is made meanwhile to ``take``."""
    token = _TAKE.set(take)
    try:
        yield
    finally:
        _TAKE.reset(token)


def recorded(blocks: tuple[int, ...]) -> tuple[int, ...]:
    """Return the blocks to record, where a caller asked for ``blocks``."""
    return blocks or (FIRST_BLOCK if _TAKE.get() else ())


def made(trace: Trace) -> Trace:
    """Hand a trace on to who gathers them, if anybody does."""
    take = _TAKE.get()
    if take is not None:
        take(trace)
    return trace
