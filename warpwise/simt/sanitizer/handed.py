"""What mbarriers order: whoever waits for a phase knows what those who arrived for it did before.

By warp: what one lane knows its warp knows. Only of a block that runs by itself, as one with
mbarriers does."""

from __future__ import annotations

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.machine.async_events import AsyncEvent, Phase
from warpwise.simt.types import Lanes


class Handed:
    """Of each warp, the time before which it knows what every other warp did."""

    def __init__(self, warps: int, group: LaneGroup):
        self.known, self.size = np.zeros((warps, warps), np.int64), group.block_threads
        self.told: dict[Phase, Lanes] = {}  #: what is known to whoever waits for a phase

    def handover(self, event: AsyncEvent, time: int) -> None:
        """An arrival or a wait of a warp at some time."""
        mine = self.known[event.warp]
        if event.arrived is not None:
            known = mine.copy()
            known[event.warp] = time
            before = self.told.get(event.arrived, known)
            self.told[event.arrived] = np.maximum(before, known)
        if event.waited in self.told:
            np.maximum(mine, self.told[event.waited], out=mine)

    def ordered(self, me: Lanes, other: Lanes, times: Lanes) -> Lanes:
        """Return True where an mbarrier orders ``other`` at ``times`` before what ``me`` does."""
        mine, his = (threads % self.size // WARP_SIZE for threads in (me, other))
        found: Lanes = (me // self.size == other // self.size) & (times < self.known[mine, his])
        return found
