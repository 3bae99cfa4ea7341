"""Compaction: the few warps or blocks that are still in a loop go on in a lane group of their own.

They join the others after it. Without it, a statement costs as much for one active warp as for all
warps of the batch. Values move by two index arrays; variables that the loop did not assign come
back as the same objects."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask, join
from warpwise.simt.machine.frame import Frame
from warpwise.simt.machine.selection import selection
from warpwise.simt.types import Value

LEAST_ROWS = 4  # smaller lane groups are not worth compacting
FEWER = 4  # warps present per active warp that make a trip count
FAR_FEWER = 32  # warps present per active warp that make a trip count for three
PATIENCE = 4  # trips that must have counted: moving values costs about as much


class Watch:
    """Decides, trip by trip, when a loop should go on compacted.

    ``by_block``: it has a barrier, so blocks stay whole."""

    __slots__ = ("by_block", "trips")

    def __init__(self, by_block: bool):
        self.by_block, self.trips = by_block, 0

    def wants_compaction(self, active: Mask) -> bool:
        """Count a trip; return True once few enough lanes were active for long enough."""
        group = active.group
        few = group.rows >= LEAST_ROWS and active.threads * FEWER <= group.rows * group.threads
        if not few:
            self.trips = 0
            return False
        times = self._present(group) // self._active(active)
        self.trips = 0 if times < FEWER else self.trips + 1 if times < FAR_FEWER else self.trips + 3
        return self.trips > PATIENCE

    def _present(self, group: LaneGroup) -> int:
        return group.rows if self.by_block else group.rows * -(-group.threads // WARP_SIZE)

    def _active(self, active: Mask) -> int:
        if not self.by_block:
            return active.warps
        lanes = active.grid() if active.lanes is None else active.lanes
        return int(np.count_nonzero(lanes.any(axis=1))) * (active.group.rows // len(lanes))


class Compacted:
    """A frame whose lanes are those of a selection, until ``end``."""

    def __init__(self, frame: Frame, active: Mask, by_block: bool):
        self.frame, self.selection = frame, selection(active, by_block)
        self.masks = frame.defined, frame.broken, frame.continued
        self.values, self.result, self.returned = frame.values, frame.result, frame.returned
        take, take_mask = self.selection.take, self.selection.take_mask
        self.taken = [take(value) for value in frame.values]
        frame.values = list(self.taken)
        frame.defined, frame.broken, frame.continued = (
            [take_mask(mask) for mask in masks] for masks in self.masks
        )
        frame.result, frame.returned = take(frame.result), take_mask(frame.returned)

    def end(self) -> None:
        """Give the frame back its lanes; variables keep what the selection's lanes gave them."""
        frame, put, put_mask = self.frame, self.selection.put, self.selection.put_mask
        frame.values = [
            old if new is was else put(new, old)
            for new, was, old in zip(frame.values, self.taken, self.values, strict=True)
        ]
        now = frame.defined, frame.broken, frame.continued
        frame.defined, frame.broken, frame.continued = (
            [put_mask(new, old) for new, old in zip(masks, before, strict=True)]
            for masks, before in zip(now, self.masks, strict=True)
        )
        result = self.result if frame.returned is None else put(frame.result, self.result)
        frame.result, frame.returned = result, put_mask(frame.returned, self.returned)


class Loop(Protocol):
    """What compaction has to know of a loop."""

    @property
    def by_block(self) -> bool:
        """Return True if it has a barrier of the block."""

    @property
    def by_grid(self) -> bool:
        """Return True if it has a sync of the grid."""


class Narrowing:
    """The compactions of one pass through a loop, one within another, undone at its end."""

    __slots__ = ("by_block", "frame", "stack", "watch", "whole")

    def __init__(self, frame: Frame, loop: Loop):
        self.frame, self.by_block, self.whole = frame, loop.by_block, loop.by_grid
        self.watch = Watch(self.by_block)
        self.stack: list[tuple[Compacted, Mask | None]] = []

    def wanted(self, active: Mask | None) -> bool:
        if active is None or active.lanes is None or self.whole:
            return False
        return self.watch.wants_compaction(active)

    def narrow(self, active: Mask, done: Mask | None, *values: Value) -> tuple[Value, ...]:
        """Compact; return the active lanes and values of the loop as the new lane group has them.

        ``done``: lanes that have left the loop, which wait outside."""
        compacted = Compacted(self.frame, active, self.by_block)
        self.stack.append((compacted, done))
        self.watch = Watch(self.by_block)
        take = compacted.selection
        return (take.take_mask(active), *(take.take(value) for value in values))

    def widen(self, done: Mask | None) -> Mask | None:
        """End all compactions; return the lanes that left the loop by its condition.

        They are of the lane group that it began with."""
        while self.stack:
            compacted, outside = self.stack.pop()
            compacted.end()
            done = join(outside, compacted.selection.put_mask(done, None))
        return done
