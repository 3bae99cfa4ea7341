"""What warps do, clock by clock, as the engine writes it down, and packed for a script."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from warpwise.stopwatch import engine

PACKED = 10_000  #: more clocks than a timeline has

Json = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Timeline:
    """Warps in rows, clocks in columns: warp ``w`` belongs to scheduler ``w % 4``.

    ``did``: engine.ISSUES, ABSENT or the number of what the warp waits for, int8. ``seen``: the
    instruction that it issues or waits to issue, int16. Instructions have ``opcodes`` and
    ``lines``, and lines have ``places``, a line's name and text."""

    first: int  #: the window's first clock, from the start of the run on
    did: np.ndarray = field(repr=False)
    seen: np.ndarray = field(repr=False)
    opcodes: tuple[str, ...] = field(repr=False)
    lines: tuple[int, ...] = field(repr=False)
    places: dict[int, tuple[str, str]] = field(repr=False)

    def cut(self, clocks: int) -> Timeline:
        """Return the same without what comes after so many clocks."""
        return replace(self, did=self.did[:, :clocks], seen=self.seen[:, :clocks])

    def packed(self) -> Json:
        """Return it for a script: each warp as a row of numbers, for what it does in turn.

        ``PACKED * what + clocks`` for a warp that waits; an instruction that it issues is -1 less
        its place in ``ops``. What it waits to issue is what it issues next."""
        used = np.unique(self.seen[self.did == engine.ISSUES]).tolist()
        lines = sorted({self.lines[i] for i in used})
        number = {i: n for n, i in enumerate(used)}
        rows = zip(self.did, self.seen, strict=True)
        return {
            "first": self.first,
            "clocks": self.did.shape[1],
            "warps": [_runs(did, seen, number) for did, seen in rows],
            "ops": [[self.opcodes[i], lines.index(self.lines[i])] for i in used],
            "lines": [self.places[line] for line in lines],
        }


def _runs(did: np.ndarray, seen: np.ndarray, number: dict[int, int]) -> list[int]:
    """Return what a warp does in turn, as ``packed`` says."""
    begins = (np.diff(did) != 0) | (did[1:] == engine.ISSUES)
    starts = [0, *(1 + np.flatnonzero(begins)).tolist()]
    ends = [*starts[1:], len(did)]
    return [
        -1 - number[int(seen[start])]
        if did[start] == engine.ISSUES
        else PACKED * int(did[start]) + end - start
        for start, end in zip(starts, ends, strict=True)
    ]
