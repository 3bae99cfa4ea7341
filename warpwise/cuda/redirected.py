"""Launches that somebody else takes in place of the simulator, such as one who only times them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.lanes.lane_group import Shape


@dataclass(frozen=True)
class Asked:
    """A launch that was asked for, and not made. ``shared_bytes``: dynamic, of a block."""

    kernel: Kernel
    grid: Shape
    block: Shape
    arguments: tuple[Any, ...]
    shared_bytes: int = 0


_TAKE: ContextVar[Callable[[Asked], None] | None] = ContextVar("take", default=None)


@contextmanager
def redirected(take: Callable[[Asked], None]) -> Iterator[None]:
    """Hand each ``kernel[blocks, threads](...)`` of this thread to ``take``, and run none."""
    token = _TAKE.set(take)
    try:
        yield
    finally:
        _TAKE.reset(token)


def taken(asked: Asked) -> bool:
    """Hand a launch on to whoever takes launches; return False if nobody does."""
    take = _TAKE.get()
    if take is not None:
        take(asked)
    return take is not None
