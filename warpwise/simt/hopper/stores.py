"""Copies from shared to global memory that are under way, by the warp that issued them."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.errors import AsyncCopyError
from warpwise.messages import Name, message
from warpwise.simt.hopper.shadow import Shadow
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes


@dataclass(frozen=True)
class Reading:
    """Something asynchronous that reads chunks of shared memory."""

    site: Site
    chunks: Lanes
    array: str
    end: int  #: tick


class Groups:
    """Groups of what is under way, of one warp: the last is open until a commit."""

    def __init__(self) -> None:
        self.open: list[Reading] = []
        self.closed: list[list[Reading]] = []

    def commit(self) -> None:
        self.closed.append(self.open)
        self.open = []

    def wait(self, newest: int) -> list[Reading]:
        """Take and return all groups but so many."""
        count = max(len(self.closed) - newest, 0)
        ended, self.closed = self.closed[:count], self.closed[count:]
        return [one for group in ended for one in group]

    @property
    def under_way(self) -> list[Reading]:
        return [one for group in (*self.closed, self.open) for one in group]


class Stores:
    """The bulk groups of a block's warps."""

    def __init__(self, warps: int, shadow: Shadow):
        self.shadow, self.groups = shadow, [Groups() for _ in range(warps)]

    def wait(self, warp: int, newest: int) -> int:
        """Wait for all but the newest groups; return the tick of their end."""
        groups = self.groups[warp]
        ended = groups.wait(newest)
        others = [one.chunks for one in groups.under_way]
        self.shadow.read_ends(warp, [one.chunks for one in ended], others)
        return max((one.end for one in ended), default=0)

    def need_all_ended(self, group: LaneGroup) -> None:
        """Raise AsyncCopyError if a warp ends before a copy that it issued."""
        for groups in self.groups:
            for one in groups.under_way:
                what = message(
                    "the block ends while this copy may still read {array}: its shared memory is "
                    "another block's then",
                    array=Name(one.array),
                )
                where = one.site.where(block=group.block_of(0))
                try_this = "hopper.tma_store_commit_group(), then hopper.tma_store_wait_group(0)"
                raise AsyncCopyError(what, where, try_this)
