"""What each warp loads and stores in global memory: the most of one says if work is shared."""

from __future__ import annotations

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.observer import Observer, Request
from warpwise.simt.types import Lanes

LOADED, STORED = 0, 1
MOST_MASKS = 64  # whose sums wait


class Busiest(Observer):
    """Adds up the bytes that each warp loads there, and those that it stores; an atomic does both.

    ``by_batch``: sums of the batches on the way, by their first block, ``(2, blocks * warps)``."""

    def __init__(self) -> None:
        self.most = np.zeros(2, np.int64)  #: loaded, stored: each the largest sum
        self.by_batch: dict[int, Lanes] = {}
        #: bytes of each active lane, loaded and stored, that are not in a batch's sums yet: a loop
        #: accesses memory again and again under one mask
        self.by_mask: dict[Mask, list[int]] = {}

    def batch_begins(self, group: LaneGroup) -> None:
        warps = group.rows * group.block_warps
        self.by_batch[group.first] = np.zeros((2, warps), np.int64)

    def load(self, request: Request) -> None:
        self._add(request, LOADED)

    def store(self, request: Request) -> None:
        self._add(request, STORED)

    def atomic(self, request: Request) -> None:
        self._add(request, LOADED, STORED)

    def batch_ends(self, group: LaneGroup) -> None:
        self._sum_up()
        self.most = np.maximum(self.most, self.by_batch.pop(group.first).max(axis=1))

    def _add(self, request: Request, *kinds: int) -> None:
        if request.array.space != "global":
            return
        width = request.array.dtype.itemsize
        added = self.by_mask.get(request.mask)
        if added is None:
            if len(self.by_mask) >= MOST_MASKS:
                self._sum_up()
            added = self.by_mask[request.mask] = [0, 0]
        for kind in kinds:
            added[kind] += width

    def _sum_up(self) -> None:
        for mask, added in self.by_mask.items():
            group = mask.group
            firsts = range(0, group.threads, WARP_SIZE)
            active = np.add.reduceat(mask.grid(), firsts, axis=1, dtype=np.int64)
            for sums, width in zip(self.by_batch[group.first], added, strict=True):
                if width:
                    sums[group.warp_places] += active * width
        self.by_mask.clear()
