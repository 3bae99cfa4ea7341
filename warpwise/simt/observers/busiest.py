"""What each warp loads and stores in global memory: the most of one says if work is shared."""

from __future__ import annotations

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.machine.observer import Observer, Request
from warpwise.simt.types import Lanes

LOADED, STORED = 0, 1


class Busiest(Observer):
    """Adds up the bytes that each warp loads there, and those that it stores; an atomic does both.

    ``by_batch``: sums of the batches on the way, by their first block, ``(2, blocks * warps)``."""

    def __init__(self) -> None:
        self.most = np.zeros(2, np.int64)  #: loaded, stored: each the largest sum
        self.by_batch: dict[int, Lanes] = {}

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
        self.most = np.maximum(self.most, self.by_batch.pop(group.first).max(axis=1))

    def _add(self, request: Request, *kinds: int) -> None:
        if request.array.space != "global":
            return
        group, lanes = request.mask.group, request.mask.grid()
        firsts = range(0, group.threads, WARP_SIZE)
        active = np.add.reduceat(lanes, firsts, axis=1, dtype=np.int64)
        for kind in kinds:
            sums = self.by_batch[group.first][kind]
            np.add.at(sums, group.warp_places, active * request.array.dtype.itemsize)
