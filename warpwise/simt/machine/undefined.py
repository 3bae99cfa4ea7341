"""Undefined values: what a shuffle gives a lane that reads one which does not take part, and whether a launch depends on it.

Such a read is no mistake by itself: in a sum over a part of a warp, the upper lanes read beyond it, and their values are thrown away.
The first read of a launch is kept, not raised, and its lanes go on with rubbish. A launch that had one runs again, from the same
arrays, with other rubbish. Where every attempt does the same, nothing depends on the rubbish; otherwise the kept error is raised.
What a kernel does is what it writes to arrays and prints; an index made of rubbish is outside its array in one attempt or another. Left
out: the path that a lane takes if nothing comes of it, and which of several undefined reads it was; the error names the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from warpwise.errors import KernelError, WarpMaskError
from warpwise.trace import Trace

ATTEMPTS = 4
_LOW, _HIGH = 1 << 29, 1 << 30  # of random numbers, which are too large for an index, and fit int32
_FLOAT = 1e20  # times these: float32 whose squares are infinite


@dataclass
class Attempt:
    """One run of a launch: its rubbish, its first read of an undefined value, and its text, which only the first attempt shows."""

    number: int = 0
    error: WarpMaskError | None = None
    text: list[str] = field(default_factory=list)

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng(0)  # the same numbers in every attempt

    def filled(self, value, lanes: np.ndarray) -> np.ndarray:
        """``value`` with rubbish in these lanes, ``(1, threads)`` or ``(rows, threads)``."""
        value = np.asarray(value)
        drawn = self._random.integers(_LOW, _HIGH, lanes.shape)
        return np.where(lanes, _rubbish(self.number, drawn, value.dtype.kind == "f").astype(value.dtype), value)

    def say(self, line: str) -> None:
        """A line that the kernel prints."""
        self.text.append(line)
        if not self.number:
            print(line)


def _rubbish(attempt: int, drawn: np.ndarray, floats: bool) -> np.ndarray:
    """Large and positive; negative, of integers with every bit changed; zero, for absolute values; small and odd, for floats as integers.

    No remainder of integers is the same in all: n divides r, -r - 1 and 0 only if it is 1.
    """
    large = drawn * _FLOAT if floats else drawn
    return (large, -1 - large, 0 * drawn, drawn >> 8 | 1)[attempt]


def settled(run: Callable[[Attempt], Trace], memories: list[np.ndarray]) -> Trace:
    """The trace of a launch with shuffles. ``run``: makes it; ``memories``: the bytes of all arrays that it may write.

    Raises the WarpMaskError of the first undefined read if what the kernel does depends on such values, or if it then fails.
    """
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
        if other.races != trace.races or again.text != first.text or not all(map(np.array_equal, memories, after)):
            raise first.error
    return trace


def _tried(run: Callable[[Attempt], Trace], attempt: Attempt, first: Attempt) -> Trace:
    try:
        return run(attempt)
    except KernelError:
        if first.error is None:
            raise
    raise first.error
