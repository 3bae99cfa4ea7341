"""Barriers: who has to be there, and what a barrier makes ordered."""

from __future__ import annotations

import numpy as np

from warpwise.errors import BarrierError
from warpwise.simt.masks import Mask


class Barriers:
    """The part of a batch that knows barriers; mixed into ``batch.Batch``."""

    def barrier(self, mask: Mask, site) -> None:
        """``syncthreads``: every thread of a block that has not returned must be here. Raises BarrierError."""
        self.counts[site.line].barriers += mask.warps
        if self.recording:
            self.recorder.add("barrier", site.line, mask)
        if mask.lanes is not None:
            self._need_whole_blocks(mask, site)
        for array in self.shared.values():
            array.shadow.barrier(mask)

    def _need_whole_blocks(self, mask: Mask, site) -> None:
        """Loops with a barrier are never compacted by warp, so a row is a block here."""
        here = mask.grid()
        missing = ~(here | self.exited_lanes(mask.extent)) & here.any(axis=1, keepdims=True)
        if not missing.any():
            return
        row = int(np.argmax(missing.any(axis=1)))
        arrived, threads = int(here[row].sum()), mask.extent.threads
        missing[:row] = False
        who = mask.extent.first_of(missing)
        raise BarrierError(
            f"only {arrived} of {threads} threads of block {who['block']} reach this barrier; thread {who['thread']} does not",
            site.where(**who),
            "move the barrier out of the branch or loop, so that all threads of the block pass it equally often",
        )
