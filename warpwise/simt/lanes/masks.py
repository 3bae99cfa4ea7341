"""Active masks: which lanes of an extent take part in a statement.

A mask is None where no lane is active, else a ``Mask``. Its lanes are None (all active) or a boolean array whose shape says what
it varies with, as for every value of the simulator: ``(1, threads)``, ``(rows, 1)`` or ``(rows, threads)``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.extent import Extent

_COUNTS = np.arange(WARP_SIZE + 1)


class Mask:
    """At least one active lane of an extent; ``threads`` counts them."""

    def __init__(self, extent: Extent, lanes: np.ndarray | None, threads: int):
        self.extent, self.lanes, self.threads = extent, lanes, threads

    @cached_property
    def profile(self) -> np.ndarray:
        """Warps by their number of active lanes, ``(33,)``; warps without any are left out."""
        return self.extent.profile(self.lanes)

    @cached_property
    def warps(self) -> int:
        """Warps with an active lane."""
        return int(self.profile.sum())

    def grid(self) -> np.ndarray:
        """The lanes as ``(rows, threads)``; read-only where it is a broadcast."""
        return np.ones(self.extent.shape, bool) if self.lanes is None else np.broadcast_to(self.lanes, self.extent.shape)


def full(extent: Extent) -> Mask:
    """All threads of an extent; lanes that only fill up a row's last warp are none."""
    lanes = extent.filled
    return Mask(extent, lanes, extent.rows * extent.threads if lanes is None else int(np.count_nonzero(lanes)))


def masked(extent: Extent, lanes: np.ndarray) -> Mask | None:
    """The mask of some lanes, None if there are none."""
    rows, columns = lanes.shape
    threads = int(np.count_nonzero(lanes)) * (extent.rows // rows) * (extent.threads // columns)
    if threads == 0:
        return None
    return Mask(extent, None if threads == extent.rows * extent.threads else lanes, threads)


def split(mask: Mask, condition) -> tuple[Mask | None, Mask | None]:
    """The active lanes where ``condition`` holds, and those where it does not. ``condition``: a bool, or an array of bools."""
    if not isinstance(condition, np.ndarray):
        return (mask, None) if condition else (None, mask)
    taken = masked(mask.extent, condition if mask.lanes is None else condition & mask.lanes)
    if taken is None:
        return None, mask
    if taken.threads == mask.threads:
        return mask, None
    return taken, masked(mask.extent, ~condition if mask.lanes is None else ~condition & mask.lanes)


def join(a: Mask | None, b: Mask | None) -> Mask | None:
    """The lanes active in either."""
    if a is None or a is b:
        return b
    if b is None or a.lanes is None:
        return a
    return b if b.lanes is None else masked(a.extent, a.lanes | b.lanes)


def covers(outer: Mask, inner: Mask) -> bool:
    """True if every active lane of ``inner`` is active in ``outer``."""
    if outer is inner or outer.lanes is None:
        return True
    if inner.lanes is None or outer.threads < inner.threads:
        return False
    return not (inner.lanes & ~outer.lanes).any()
