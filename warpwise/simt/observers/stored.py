"""What each warp stores in global memory: the most that one of them does says if work is shared."""

from __future__ import annotations

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.machine.observer import Observer, Request
from warpwise.simt.types import Lanes


class StoredByWarp(Observer):
    """Adds up the bytes that each warp stores or updates there; ``most`` is the largest sum.

    ``by_batch``: sums of the batches on the way, by their first block, ``(blocks * warps,)``."""

    def __init__(self) -> None:
        self.most = 0
        self.by_batch: dict[int, Lanes] = {}

    def batch_begins(self, group: LaneGroup) -> None:
        self.by_batch[group.first] = np.zeros(group.rows * _warps_of_a_block(group), np.int64)

    def store(self, request: Request) -> None:
        if request.array.space != "global":
            return
        group, lanes = request.mask.group, request.mask.grid()
        firsts = range(0, group.threads, WARP_SIZE)
        active = np.add.reduceat(lanes, firsts, axis=1, dtype=np.int64)
        within = group.thread_numbers[:, ::WARP_SIZE] // WARP_SIZE
        warps = group.block_rows * _warps_of_a_block(group) + within
        np.add.at(self.by_batch[group.first], warps, active * request.array.dtype.itemsize)

    atomic = store

    def batch_ends(self, group: LaneGroup) -> None:
        self.most = max(self.most, int(self.by_batch.pop(group.first).max()))


def _warps_of_a_block(group: LaneGroup) -> int:
    return -(-group.block_threads // WARP_SIZE)
