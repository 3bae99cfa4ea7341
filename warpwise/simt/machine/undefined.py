"""Undefined values: those that a shuffle reads from a lane which does not take part.

Such a read is no mistake by itself: in a sum over part of a warp, the upper lanes read beyond it,
and their values are thrown away. The first read of a launch is kept, not raised, and its lanes go
on with garbage. A launch that had one runs again, from the same arrays, with other garbage. Where
every attempt has the same effects, nothing depends on the garbage; otherwise the kept error is
raised. Effects are writes to arrays and prints; an index made of garbage is outside its array in
one attempt or another. Left out: the path that a lane takes if it has no effects, and which of
several undefined reads it was; the error names the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from warpwise.errors import KernelError, WarpMaskError
from warpwise.simt.types import Lanes, Value, as_array
from warpwise.traces import Trace

ATTEMPTS = 4
_LOW, _HIGH = 1 << 29, 1 << 30  # of random numbers, which are too large for an index, and fit int32
_FLOAT = 1e20  # times these: float32 whose squares are infinite


@dataclass
class Attempt:
    """One run of a launch: its garbage, its first undefined read, and the text that it prints.

    Only the first attempt shows the text."""

    number: int = 0
    error: WarpMaskError | None = None
    text: list[str] = field(default_factory=list)

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng(0)  # the same numbers in every attempt

    def filled(self, value: Value, lanes: Lanes) -> Lanes:
        """Return ``value`` with garbage in these lanes, ``(1, threads)`` or ``(rows, threads)``."""
        value = as_array(value)
        drawn = np.asarray(self._random.integers(_LOW, _HIGH, lanes.shape))
        garbage = _garbage(self.number, drawn, value.dtype.kind == "f")
        return np.where(lanes, garbage.astype(value.dtype), value)

    def say(self, line: str) -> None:
        """Print a line of the kernel's."""
        self.text.append(line)
        if not self.number:
            print(line)


def _garbage(attempt: int, drawn: Lanes, floats: bool) -> Lanes:
    """Return garbage that differs between attempts.

    Large and positive; negative, of integers with every bit changed; zero, against absolute values;
    small and odd, against floats read as integers. No remainder of integers is the same in all: n
    divides r, -r - 1 and 0 only if it is 1.
    """
    large = drawn * _FLOAT if floats else drawn
    return (large, -1 - large, 0 * drawn, drawn >> 8 | 1)[attempt]


def settled(run: Callable[[Attempt], Trace], memories: list[Lanes]) -> Trace:
    """Return the trace of a launch with shuffles, which ``run`` makes.

    ``memories``: the bytes of all arrays that it may write. Raises the WarpMaskError of the first
    undefined read if the kernel's effects depend on such values, or if it then fails."""
    before, first = [memory.copy() for memory in memories], Attempt()
    trace = _tried(run, first, first)
    if first.error is None:
        return trace
    after = [memory.copy() for memory in memories]
    for number in range(1, ATTEMPTS):
        for memory, values in zip(memories, before, strict=True):
            memory[:] = values
        again = Attempt(number)
        other = _tried(run, again, first)
        same = other.races == trace.races and again.text == first.text
        if not same or not all(map(np.array_equal, memories, after)):
            raise first.error
    return trace


def _tried(run: Callable[[Attempt], Trace], attempt: Attempt, first: Attempt) -> Trace:
    try:
        return run(attempt)
    except KernelError:
        if first.error is None:
            raise
    raise first.error
