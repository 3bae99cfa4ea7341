"""Active masks: the lanes of a lane group that take part in a statement.

A mask is None where no lane is active, else a ``Mask``. Its lanes are None (all active) or a
boolean array whose shape says what it varies with, as for every value of the simulator: ``(1,
threads)``, ``(rows, 1)`` or ``(rows, threads)``."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.types import Lanes, Value

_ONE_WARP = np.eye(WARP_SIZE + 1, dtype=np.int64)  #: its profile, by its number of active lanes


class Mask:
    """At least one active lane of a lane group; ``threads`` counts them."""

    def __init__(self, group: LaneGroup, lanes: Lanes | None, threads: int):
        self.group, self.lanes, self.threads = group, lanes, threads

    @cached_property
    def profile(self) -> Lanes:
        """Warps by their number of active lanes, ``(33,)``, without those that have none."""
        if self.group.rows == 1 and self.group.threads <= WARP_SIZE:
            one: Lanes = _ONE_WARP[self.threads]
            return one
        return self.group.profile(self.lanes)

    @cached_property
    def warps(self) -> int:
        """Warps with an active lane."""
        return int(self.profile.sum())

    @cached_property
    def warp_places(self) -> Lanes:
        """The numbers, among the warps of the whole batch, of those with an active lane."""
        if self.lanes is None:
            return self.group.warp_places.ravel()
        firsts = range(0, self.group.threads, WARP_SIZE)
        active: Lanes = np.logical_or.reduceat(self.grid(), firsts, axis=1)
        return self.group.warp_places[active]

    def grid(self) -> Lanes:
        """Return the lanes as ``(rows, threads)``, not to be written to."""
        return self._grid

    @cached_property
    def _grid(self) -> Lanes:
        if self.lanes is None:
            return np.ones(self.group.shape, bool)
        if self.lanes.shape == self.group.shape:
            return self.lanes
        return np.broadcast_to(self.lanes, self.group.shape)


def full(group: LaneGroup) -> Mask:
    """Return the mask of all threads of a lane group; lanes that fill up a warp are none."""
    lanes = group.filled
    threads = group.rows * group.threads if lanes is None else int(np.count_nonzero(lanes))
    return Mask(group, lanes, threads)


def masked(group: LaneGroup, lanes: Lanes) -> Mask | None:
    """Return the mask of some lanes, None if there are none."""
    rows, columns = lanes.shape
    threads = int(np.count_nonzero(lanes)) * (group.rows // rows) * (group.threads // columns)
    if threads == 0:
        return None
    return Mask(group, None if threads == group.rows * group.threads else lanes, threads)


def split(mask: Mask, condition: Value) -> tuple[Mask | None, Mask | None]:
    """Return the active lanes where ``condition`` holds, and those where it does not.

    ``condition``: a bool, or an array of bools."""
    if not isinstance(condition, np.ndarray):
        return (mask, None) if condition else (None, mask)
    taken = masked(mask.group, condition if mask.lanes is None else condition & mask.lanes)
    if taken is None:
        return None, mask
    if taken.threads == mask.threads:
        return mask, None
    others = ~condition if mask.lanes is None else ~condition & mask.lanes
    return taken, Mask(mask.group, others, mask.threads - taken.threads)


def join(a: Mask | None, b: Mask | None) -> Mask | None:
    """Return the lanes active in either."""
    if a is None or a is b:
        return b
    if b is None or a.lanes is None:
        return a
    return b if b.lanes is None else masked(a.group, a.lanes | b.lanes)


def covers(outer: Mask, inner: Mask) -> bool:
    """Return True if every active lane of ``inner`` is active in ``outer``."""
    if outer is inner or outer.lanes is None:
        return True
    if inner.lanes is None or outer.threads < inner.threads:
        return False
    return not (inner.lanes & ~outer.lanes).any()
