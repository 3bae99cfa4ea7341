"""Loads from global memory that a warp stores to shared memory at once: it waits for each of them.

A warp goes on behind a load until it needs the value, and arithmetic in between hides what the load
takes. Left out: which value a store needs, as values are not followed here, and how long a load
takes."""

from __future__ import annotations

import numpy as np

from warpwise.simt.lanes.counting import Work
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.observer import AsyncCopy, Observer, Request
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes


class StoredAtOnce(Observer):
    """Counts requests of warps behind which the warp stores before any floating-point arithmetic.

    A wait for copies of 16 bytes counts as such a store. ``on_the_way``: the requests of each warp
    since it last computed or stored, of the batches on the way, by their first block."""

    def __init__(self) -> None:
        self.count = 0
        self.on_the_way: dict[int, Lanes] = {}

    def batch_begins(self, group: LaneGroup) -> None:
        self.on_the_way[group.first] = np.zeros(group.rows * group.block_warps, np.int64)

    def issue(self, work: Work, mask: Mask) -> None:
        if work.flops:
            self.on_the_way[mask.group.first][mask.warp_places] = 0

    def load(self, request: Request) -> None:
        if request.array.space == "global":
            self.on_the_way[request.mask.group.first][request.mask.warp_places] += 1

    def store(self, request: Request) -> None:
        if request.array.space == "shared":
            self._waits(request.mask)

    def arrival(self, copy: AsyncCopy, request: Request, site: Site) -> None:
        self._waits(request.mask)

    def batch_ends(self, group: LaneGroup) -> None:
        del self.on_the_way[group.first]

    def _waits(self, mask: Mask) -> None:
        on_the_way, places = self.on_the_way[mask.group.first], mask.warp_places
        self.count += int(on_the_way[places].sum())
        on_the_way[places] = 0
