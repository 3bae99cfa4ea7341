"""Active masks: which lanes of a batch of blocks take part in a statement.

A mask is None where no lane is active, else a ``Mask``. Its lanes are None (all active) or a boolean array whose shape says what
it varies with, as for every value of the simulator: ``(1, threads)``, ``(blocks, 1)`` or ``(blocks, threads)``.
"""

from __future__ import annotations

import numpy as np

from warpwise.metrics import WARP_SIZE


class Extent:
    """How many blocks a batch has, how many threads a block, and where its warps begin."""

    __slots__ = ("all_threads", "blocks", "starts", "threads", "warps")

    def __init__(self, blocks: int, threads: int):
        self.blocks, self.threads = blocks, threads
        self.starts = np.arange(0, threads, WARP_SIZE)
        self.warps = len(self.starts)
        self.all_threads = np.ones(threads, bool)

    def full(self) -> Mask:
        mask = Mask(self, None, self.blocks * self.threads)
        mask._warps = self.blocks * self.warps
        return mask


class Mask:
    """At least one active lane. ``threads`` and ``warps`` count active lanes and warps with an active lane, over the batch."""

    __slots__ = ("_warps", "extent", "lanes", "threads")

    def __init__(self, extent: Extent, lanes: np.ndarray | None, threads: int):
        self.extent, self.lanes, self.threads = extent, lanes, threads
        self._warps = None

    @property
    def warps(self) -> int:
        if self._warps is None:
            self._warps = _count_warps(self.extent, self.lanes)
        return self._warps

    def grid(self) -> np.ndarray:
        """The lanes as ``(blocks, threads)``; read-only where it is a broadcast."""
        shape = (self.extent.blocks, self.extent.threads)
        return np.ones(shape, bool) if self.lanes is None else np.broadcast_to(self.lanes, shape)

    def row(self, block: int) -> np.ndarray:
        """The lanes of one block of the batch, ``(threads,)``."""
        if self.lanes is None:
            return self.extent.all_threads
        rows, _ = self.lanes.shape
        return np.broadcast_to(self.lanes[block if rows > 1 else 0], (self.extent.threads,))


def _count_warps(extent: Extent, lanes: np.ndarray) -> int:
    rows, columns = lanes.shape
    if columns == 1 and extent.threads > 1:
        return int(np.count_nonzero(lanes)) * extent.warps * (extent.blocks // rows)
    if extent.threads % WARP_SIZE == 0:
        found = lanes.reshape(rows, -1, WARP_SIZE).any(axis=2)
    else:
        found = np.logical_or.reduceat(lanes, extent.starts, axis=1)
    return int(np.count_nonzero(found)) * (extent.blocks // rows)


def _masked(extent: Extent, lanes: np.ndarray) -> Mask | None:
    rows, columns = lanes.shape
    threads = int(np.count_nonzero(lanes)) * (extent.blocks // rows) * (extent.threads // columns)
    if threads == 0:
        return None
    return extent.full() if threads == extent.blocks * extent.threads else Mask(extent, lanes, threads)


def split(mask: Mask, condition) -> tuple[Mask | None, Mask | None]:
    """The active lanes where ``condition`` holds, and those where it does not. ``condition``: a bool, or an array of bools."""
    if not isinstance(condition, np.ndarray):
        return (mask, None) if condition else (None, mask)
    taken = _masked(mask.extent, condition if mask.lanes is None else condition & mask.lanes)
    if taken is None:
        return None, mask
    if taken.threads == mask.threads:
        return mask, None
    return taken, _masked(mask.extent, ~condition if mask.lanes is None else ~condition & mask.lanes)


def join(a: Mask | None, b: Mask | None) -> Mask | None:
    """The lanes active in either."""
    if a is None or a is b:
        return b
    if b is None or a.lanes is None:
        return a
    return b if b.lanes is None else _masked(a.extent, a.lanes | b.lanes)


def covers(outer: Mask, inner: Mask) -> bool:
    """True if every active lane of ``inner`` is active in ``outer``."""
    if outer is inner or outer.lanes is None:
        return True
    if inner.lanes is None or outer.threads < inner.threads:
        return False
    return not (inner.lanes & ~outer.lanes).any()
