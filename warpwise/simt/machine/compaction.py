"""Compaction: the few warps or blocks that are still in a loop go on alone, in an extent of their own, and join the others after it.

Without it, a statement costs as much for one active warp as for all warps of the batch. Values move by two index arrays; what the
loop did not assign comes back as the same object.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.extent import Extent
from warpwise.simt.lanes.masks import Mask, full, join, masked
from warpwise.simt.machine.frame import Frame

LEAST_ROWS = 4  # an extent this small is not worth compacting
FEWER = 4  # how many times fewer warps must be active
FAR_FEWER = 32  # how many times fewer makes a trip count for three
PATIENCE = 4  # trips for which that must have held: moving values costs about as much


class Watch:
    """Decides, trip by trip, when a loop should go on compacted. ``by_block``: it has a barrier, so blocks stay whole."""

    __slots__ = ("by_block", "trips")

    def __init__(self, by_block: bool):
        self.by_block, self.trips = by_block, 0

    def says(self, active: Mask) -> bool:
        extent = active.extent
        few = extent.rows >= LEAST_ROWS and active.threads * FEWER <= extent.rows * extent.threads
        if not few:
            self.trips = 0
            return False
        times = self._present(extent) // self._active(active)
        self.trips = 0 if times < FEWER else self.trips + 1 if times < FAR_FEWER else self.trips + 3
        return self.trips > PATIENCE

    def _present(self, extent: Extent) -> int:
        return extent.rows if self.by_block else extent.rows * -(-extent.threads // WARP_SIZE)

    def _active(self, active: Mask) -> int:
        if not self.by_block:
            return active.warps
        return int(np.count_nonzero(active.lanes.any(axis=1))) * (active.extent.rows // len(active.lanes))


@dataclass(frozen=True)
class Selection:
    """Lanes taken out of an extent: ``rows`` ``(n, 1)``, and ``columns`` ``(n, 32)`` where whole warps were taken, else None."""

    outer: Extent
    inner: Extent
    rows: np.ndarray
    columns: np.ndarray | None

    def take(self, value):
        """A value as the inner extent has it; tuples item by item."""
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
        """A value that the inner extent computed, back among those of the other lanes; ``before`` is what the outer one had."""
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
    """The rows, or else the warps, that have an active lane."""
    outer, lanes = active.extent, active.grid()
    if by_block or outer.threads <= WARP_SIZE:  # then a row is one warp as it is
        rows = np.flatnonzero(lanes.any(axis=1))[:, None]
        columns, threads, filled = None, outer.threads, None if outer.filled is None else outer.filled[rows[:, 0]]
    else:
        starts = np.arange(0, outer.threads, WARP_SIZE)
        rows, warps = (n[:, None] for n in np.nonzero(np.logical_or.reduceat(lanes, starts, axis=1)))
        columns, threads = warps * WARP_SIZE + np.arange(WARP_SIZE), WARP_SIZE
        there = columns < outer.threads
        columns = np.minimum(columns, outer.threads - 1)
        if outer.filled is not None:
            there &= outer.filled[rows, columns]
        filled = None if there.all() else there
    bare = Selection(outer, replace(outer, rows=len(rows), threads=threads, filled=filled, whole=False), rows, columns)
    inner = replace(
        bare.inner, block_rows=outer.block_rows[rows[:, 0]], thread_numbers=bare.take(outer.thread_numbers),
        thread_index=bare.take(outer.thread_index), block_index=bare.take(outer.block_index),
    )  # fmt: skip
    return replace(bare, inner=inner)


class Compacted:
    """A frame whose lanes are those of a selection, until ``end``."""

    def __init__(self, frame: Frame, active: Mask, by_block: bool):
        self.frame, self.selection = frame, selection(active, by_block)
        self.before = frame.values, frame.defined, frame.broken, frame.continued, frame.result, frame.returned
        take, take_mask = self.selection.take, self.selection.take_mask
        self.taken = [take(value) for value in frame.values]
        frame.values = list(self.taken)
        frame.defined, frame.broken, frame.continued = (
            [take_mask(mask) for mask in masks] for masks in (frame.defined, frame.broken, frame.continued)
        )
        frame.result, frame.returned = take(frame.result), take_mask(frame.returned)

    def end(self) -> None:
        """Give the frame back its lanes; variables keep what the selection's lanes gave them."""
        frame, put, put_mask = self.frame, self.selection.put, self.selection.put_mask
        values, defined, broken, continued, result, returned = self.before
        frame.values = [
            old if new is was else put(new, old) for new, was, old in zip(frame.values, self.taken, values, strict=True)
        ]
        frame.defined = [put_mask(new, old) for new, old in zip(frame.defined, defined, strict=True)]
        frame.broken = [put_mask(new, old) for new, old in zip(frame.broken, broken, strict=True)]
        frame.continued = [put_mask(new, old) for new, old in zip(frame.continued, continued, strict=True)]
        frame.result = result if frame.returned is None else put(frame.result, result)
        frame.returned = put_mask(frame.returned, returned)


class Narrowing:
    """The compactions of one pass through a loop, one within another, and back at its end. ``loop``: see ``loops.Loop``."""

    __slots__ = ("by_block", "frame", "stack", "watch", "whole")

    def __init__(self, frame: Frame, loop):
        self.frame, self.by_block, self.whole = frame, loop.by_block, loop.by_grid
        self.watch, self.stack = Watch(self.by_block), []

    def wanted(self, active: Mask | None) -> bool:
        return active is not None and active.lanes is not None and not self.whole and self.watch.says(active)

    def narrow(self, active: Mask, done: Mask | None, *values) -> tuple:
        """Compact: the active lanes and some values of the loop's own, as the new extent has them. ``done`` waits outside."""
        compacted = Compacted(self.frame, active, self.by_block)
        self.stack.append((compacted, done))
        self.watch = Watch(self.by_block)
        take = compacted.selection
        return (take.take_mask(active), *(take.take(value) for value in values))

    def widen(self, done: Mask | None) -> Mask | None:
        """End all compactions; returns the lanes that left the loop by its condition, of the extent it began with."""
        while self.stack:
            compacted, waiting = self.stack.pop()
            compacted.end()
            done = join(waiting, compacted.selection.put_mask(done, None))
        return done
