"""What each warp of a block knows of the others: vector clocks, and the phases that it has seen.

A warp's time grows when it tells others what it did: by an arrival, or at a barrier of the block.
By warp, as what one lane knows its warp knows: lanes that race within a warp are left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.simt.types import Lanes


@dataclass(frozen=True)
class Known:
    """What a warp knew when it told: ``seen``, a time of each warp, and phases by mbarrier."""

    seen: Lanes
    phases: dict[int, int]

    def joined(self, other: Known) -> Known:
        keys = self.phases.keys() | other.phases.keys()
        phases = {key: max(self.phases.get(key, 0), other.phases.get(key, 0)) for key in keys}
        return Known(np.maximum(self.seen, other.seen), phases)


class Clocks:
    """The clocks of a block's warps."""

    def __init__(self, warps: int):
        self.now = np.ones(warps, np.int64)
        self.known = [Known(np.zeros(warps, np.int64), {}) for _ in range(warps)]

    def told(self, warp: int) -> Known:
        """Return what a warp tells now; what it does from here on is later."""
        mine = self.known[warp]
        seen = mine.seen.copy()
        seen[warp] = self.now[warp]
        self.now[warp] += 1
        return Known(seen, mine.phases)

    def learns(self, warp: int, known: Known) -> None:
        self.known[warp] = self.known[warp].joined(known)

    def sees(self, warp: int, barrier: int, phase: int) -> None:
        """A warp has waited for a phase."""
        nobody = np.zeros(len(self.now), np.int64)
        self.learns(warp, Known(nobody, {barrier: phase + 1}))

    def meet(self) -> None:
        """All warps have passed a barrier of the block."""
        together = self.told(0)
        for warp in range(1, len(self.known)):
            together = together.joined(self.told(warp))
        self.known = [together] * len(self.known)

    def knows(self, warp: int, other: int, time: int) -> bool:
        """Return True if something orders what ``other`` did at ``time`` before ``warp`` now."""
        return warp == other or bool(self.known[warp].seen[other] >= time)

    def has_seen(self, warp: int, barrier: int, phase: int) -> bool:
        """Return True if a warp knows that a phase of the mbarrier at an address is over."""
        return self.known[warp].phases.get(barrier, 0) > phase
