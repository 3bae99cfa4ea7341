"""The threads of a batch that have returned from the kernel."""

from __future__ import annotations

import numpy as np

from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask, join, masked
from warpwise.simt.types import Lanes


class Returned:
    """The lanes of a batch, of lane group ``group``, whose threads have returned."""

    def __init__(self, group: LaneGroup):
        self.group = group
        self._mask: Mask | None = None

    @property
    def anybody(self) -> bool:
        return self._mask is not None

    def add(self, mask: Mask) -> None:
        if mask.group is self.group:
            self._mask = join(self._mask, mask)
            return
        lanes = np.zeros(self.group.shape, bool)
        lanes.reshape(-1)[mask.group.places[mask.grid()]] = True
        self._mask = join(self._mask, masked(self.group, lanes))

    def lanes(self, group: LaneGroup) -> Lanes:
        """Return the lanes of ``group`` whose threads have returned, ``(rows, threads)``."""
        if self._mask is None:
            return np.zeros(group.shape, bool)
        gone = self._mask.grid()
        return gone if group is self.group else gone.reshape(-1)[group.places]
