"""Compaction: the few warps or blocks that are still in a loop go on in a lane group of their own.

They join the others after it. Without it, a statement costs as much for one active warp as for all
warps of the batch. Values move by two index arrays; variables that the loop did not assign come
back as the same objects."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask, full, join, masked
from warpwise.simt.machine.frame import Frame

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
        rows = int(np.count_nonzero(active.lanes.any(axis=1)))
        return rows * (active.group.rows // len(active.lanes))


@dataclass(frozen=True)
class Selection:
    """Lanes taken out of a lane group.

    ``rows`` ``(n, 1)``, and ``columns`` ``(n, 32)`` where whole warps were taken, else None."""

    outer: LaneGroup
    inner: LaneGroup
    rows: np.ndarray
    columns: np.ndarray | None

    def take(self, value):
        """Return a value as the inner lane group has it; tuples item by item."""
        if isinstance(value, tuple):
            return tuple(self.take(item) for item in value)
        if hasattr(value, "taken"):
            return value.taken(self)
        if not isinstance(value, np.ndarray):
            return value
        one_row = value.shape[0] == 1
        if self.columns is None:
            return value if one_row else value[self.rows[:, 0]]
        if value.shape[1] == 1:
            return value if one_row else value[self.rows, 0]
        return value[0 if one_row else self.rows, self.columns]

    def put(self, value, before):
        """Put a value of the inner lane group back among those of the other lanes.

        ``before``: the value of the outer one."""
        if isinstance(value, tuple):
            old = before if isinstance(before, tuple) else (None,) * len(value)
            return tuple(self.put(new, was) for new, was in zip(value, old, strict=True))
        if hasattr(value, "space"):
            return value.put_back(self, before) if hasattr(value, "put_back") else value
        new = np.asarray(value)
        old = np.zeros((), new.dtype) if before is None else np.asarray(before)
        out = np.empty(self.outer.shape, np.result_type(new, old))
        out[...] = old
        self._write(out, new)
        return out

    def take_mask(self, mask: Mask | None) -> Mask | None:
        if mask is None or mask.lanes is None:
            return None if mask is None else full(self.inner)
        lanes = np.broadcast_to(self.take(mask.grid()), self.inner.shape)
        return masked(self.inner, lanes if self.inner.filled is None else lanes & self.inner.filled)

    def put_mask(self, mask: Mask | None, before: Mask | None) -> Mask | None:
        lanes = np.zeros(self.outer.shape, bool) if before is None else before.grid().copy()
        self._write(lanes, np.zeros((1, 1), bool) if mask is None else mask.grid())
        return masked(self.outer, lanes)

    def _write(self, out: np.ndarray, values: np.ndarray) -> None:
        values = np.broadcast_to(values, self.inner.shape)
        if self.columns is None:
            out[self.rows[:, 0]] = values
        elif self.inner.filled is None:
            out[self.rows, self.columns] = values
        else:
            kept = self.inner.filled
            out[np.broadcast_to(self.rows, kept.shape)[kept], self.columns[kept]] = values[kept]


def selection(active: Mask, by_block: bool) -> Selection:
    """Select the rows, or else the warps, that have an active lane."""
    outer, lanes = active.group, active.grid()
    if by_block or outer.threads <= WARP_SIZE:  # then a row is one warp as it is
        rows, columns = np.flatnonzero(lanes.any(axis=1))[:, None], None
        threads, filled = outer.threads, outer.filled
        if filled is not None:
            filled = filled[rows[:, 0]]
    else:
        warps_active = np.logical_or.reduceat(lanes, np.arange(0, outer.threads, WARP_SIZE), axis=1)
        rows, warps = (n[:, None] for n in np.nonzero(warps_active))
        columns, threads = warps * WARP_SIZE + np.arange(WARP_SIZE), WARP_SIZE
        there = columns < outer.threads
        columns = np.minimum(columns, outer.threads - 1)
        if outer.filled is not None:
            there &= outer.filled[rows, columns]
        filled = None if there.all() else there
    inner = replace(outer, rows=len(rows), threads=threads, filled=filled, whole=False)
    bare = Selection(outer, inner, rows, columns)
    inner = replace(
        bare.inner,
        block_rows=outer.block_rows[rows[:, 0]],
        thread_numbers=bare.take(outer.thread_numbers),
        thread_index=bare.take(outer.thread_index),
        block_index=bare.take(outer.block_index),
    )
    return replace(bare, inner=inner)


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


class Narrowing:
    """The compactions of one pass through a loop, one within another, undone at its end.

    ``loop``: see ``loops.Loop``."""

    __slots__ = ("by_block", "frame", "stack", "watch", "whole")

    def __init__(self, frame: Frame, loop):
        self.frame, self.by_block, self.whole = frame, loop.by_block, loop.by_grid
        self.watch, self.stack = Watch(self.by_block), []

    def wanted(self, active: Mask | None) -> bool:
        if active is None or active.lanes is None or self.whole:
            return False
        return self.watch.wants_compaction(active)

    def narrow(self, active: Mask, done: Mask | None, *values) -> tuple:
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
