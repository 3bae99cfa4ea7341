"""The recorder: raw events of the recorded blocks, up to a cap, as the columns of a trace."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warpwise.simt.lanes.counting import Work
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.observer import AsyncCopy, Observer, Request, Scope
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.tensor import Product
from warpwise.simt.types import Lanes, Value, as_array
from warpwise.traces import KINDS, ArrayInfo, Records

_LANE_BUDGET = 4_000_000  # lanes kept at most, about 40 MB of columns


class _Raw(NamedTuple):
    """An event of one block; ``array`` is a number, the rest are the block's lanes, or None."""

    kind: int
    line: int
    block: int
    array: int
    slots: int
    active: Lanes
    taken: Lanes | None
    addresses: Lanes | None
    width: int


class Recorder(Observer):
    """Collects the events of some ``blocks``, of ``threads`` threads each, ``limit`` at most."""

    def __init__(self, blocks: tuple[int, ...], threads: int, limit: int):
        self.blocks, self.threads = frozenset(blocks), threads
        self.limit = min(limit, max(1, _LANE_BUDGET // threads))
        #: recorded blocks of each batch, by its first, as (row in the batch, linear block number)
        self.rows: dict[int, tuple[tuple[int, int], ...]] = {}
        self.raw: list[_Raw] = []
        self.places: dict[ArrayInfo, int] = {}
        self.truncated = False

    def batch_begins(self, group: LaneGroup) -> None:
        here = range(group.first, group.first + group.rows)
        rows = tuple((b - group.first, b) for b in sorted(self.blocks) if b in here)
        if rows:
            self.rows[group.first] = rows

    def issue(self, work: Work, mask: Mask) -> None:
        if mask.group.first in self.rows:
            self._add("issue", work.line, mask, slots=work.slots)

    def branch(self, line: int, mask: Mask, taken: Mask | None, left: Mask | None) -> None:
        if mask.group.first in self.rows:
            self._add("branch", line, mask, taken=taken)

    def barrier(self, scope: Scope, mask: Mask, site: Site) -> None:
        if mask.group.first in self.rows:
            self._add("barrier", site.line, mask)

    def batch_ends(self, group: LaneGroup) -> None:
        self.rows.pop(group.first, None)

    def _request(self, request: Request) -> None:
        if request.array.space in ("global", "shared"):
            self._access(request.access, request, request.site)

    load = store = atomic = _request

    def async_copy(self, copy: AsyncCopy) -> None:
        self._access("copy", copy.request, copy.request.site)

    def arrival(self, copy: AsyncCopy, request: Request, site: Site) -> None:
        self._access("arrive", request, site)

    def _access(self, kind: str, request: Request, site: Site) -> None:
        array, mask, addresses = request.array, request.mask, request.addresses
        if mask.group.first in self.rows:
            width = array.dtype.itemsize
            self._add(kind, site.line, mask, array.info, addresses, width=width)

    def mma(self, product: Product) -> None:
        if product.mask.group.first in self.rows:
            self._add("mma", product.site.line, product.mask)

    def _add(
        self,
        kind: str,
        line: int,
        mask: Mask,
        array: ArrayInfo | None = None,
        addresses: Value = None,
        taken: Mask | None = None,
        slots: int = 0,
        width: int = 0,
    ) -> None:
        """Add one event of every recorded block of the batch in which a lane is active."""
        group, number = mask.group, KINDS.index(kind)
        for row, block in self.rows[group.first]:
            lanes = _of_block(group, mask.lanes, row)
            if lanes is not group.every_lane and not lanes.any():
                continue
            if len(self.raw) >= self.limit:
                self.truncated = True
                return
            where = None if addresses is None else _of_block(group, addresses, row)
            ways = None if taken is None else _of_block(group, taken.lanes, row)
            place = -1 if array is None else self.places.setdefault(array, len(self.places))
            self.raw.append(_Raw(number, line, block, place, slots, lanes, ways, where, width))

    @property
    def arrays(self) -> list[ArrayInfo]:
        """The arrays that events name, in the order of their numbers."""
        return list(self.places)

    def records(self) -> Records:
        if not self.raw:
            return Records.empty(self.threads)
        columns = zip(*self.raw, strict=True)
        kind, line, block, array, slots, active, taken, addresses, width = columns
        lanes = np.array(active, bool)
        where = np.full(lanes.shape, -1, np.int64)
        ways = np.zeros(lanes.shape, bool)
        for i, (address, way) in enumerate(zip(addresses, taken, strict=True)):
            if address is not None:
                where[i] = address
            if way is not None:
                ways[i] = way & lanes[i]
        where[~lanes] = -1
        return Records(
            np.array(kind, np.uint8),
            np.array(line, np.int32),
            np.array(block, np.int64),
            np.array(array, np.int16),
            np.array(slots, np.int32),
            lanes,
            ways,
            where,
            np.array(width, np.int32),
        )


def _of_block(group: LaneGroup, values: Value, row: int) -> Lanes:
    """Return the values of one block of the batch, ``(threads,)``; None stands for all lanes.

    Lanes that are not in the lane group hold 0."""
    if values is None and group.whole:
        return group.every_lane
    if not isinstance(values, np.ndarray):
        values = as_array(True if values is None else values).reshape(1, 1)
    if group.whole:
        own: Lanes = values[row if len(values) > 1 else 0]
        return own if len(own) == group.threads else np.broadcast_to(own, (group.threads,))
    here = np.broadcast_to(group.block_rows == row, group.shape)
    if group.filled is not None:
        here = here & group.filled
    out = np.zeros(group.block_threads, values.dtype)
    threads = np.broadcast_to(group.thread_numbers, group.shape)[here]
    out[threads] = np.broadcast_to(values, group.shape)[here]
    return out
