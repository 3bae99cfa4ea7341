"""Selections: lanes taken out of a lane group, and the moves of values between the two."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask, full, masked
from warpwise.simt.types import Lanes, Value, as_array


@dataclass(frozen=True)
class Selection:
    """Lanes taken out of a lane group.

    ``rows`` ``(n, 1)``, and ``columns`` ``(n, 32)`` where whole warps were taken, else None."""

    outer: LaneGroup
    inner: LaneGroup
    rows: Lanes
    columns: Lanes | None

    def take(self, value: Value) -> Value:
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

    def put(self, value: Value, before: Value) -> Value:
        """Put a value of the inner lane group back among those of the other lanes.

        ``before``: the value of the outer one."""
        if isinstance(value, tuple):
            were = before if isinstance(before, tuple) else (None,) * len(value)
            return tuple(self.put(new, was) for new, was in zip(value, were, strict=True))
        if hasattr(value, "space"):
            return value.put_back(self, before) if hasattr(value, "put_back") else value
        new = as_array(value)
        old = np.zeros((), new.dtype) if before is None else as_array(before)
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

    def _write(self, out: Lanes, values: Lanes) -> None:
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
        warps_active = np.logical_or.reduceat(
            lanes, np.arange(0, outer.threads, WARP_SIZE, dtype=np.intp), axis=1
        )
        rows, warps = (n[:, None] for n in np.nonzero(warps_active))
        columns, threads = warps * WARP_SIZE + np.arange(WARP_SIZE, dtype=np.int64), WARP_SIZE
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
