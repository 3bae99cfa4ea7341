"""Copies from shared to global memory that are under way, by the warp that issued them."""

from __future__ import annotations

from warpwise.errors import AsyncCopyError
from warpwise.messages import Name, message
from warpwise.simt.hopper.groups import Groups
from warpwise.simt.hopper.shadow import Shadow
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.machine.site import Site


class Stores:
    """The bulk groups of a block's warps."""

    def __init__(self, warps: int, shadow: Shadow):
        self.shadow, self.groups = shadow, [Groups() for _ in range(warps)]
        shadow.history.groups["tma_store"] = self.groups

    def wait(self, warp: int, newest: int, site: Site) -> int:
        """Wait for all but the newest groups; return the tick of their end."""
        return self.shadow.wait(warp, self.groups[warp], newest, site)

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
