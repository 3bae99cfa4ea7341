"""The recorder: raw events of the recorded blocks, up to a cap, as the columns of a trace."""

from __future__ import annotations

import numpy as np

from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.traces import KINDS, ArrayInfo, Records

_LANE_BUDGET = 4_000_000  # lanes kept at most, about 40 MB of columns


class Recorder:
    """Collects the events of one launch.

    ``rows``: recorded blocks of the current batch as (row in the batch, linear block number)."""

    def __init__(self, blocks: tuple[int, ...], threads: int, limit: int):
        self.blocks, self.threads = frozenset(blocks), threads
        self.limit = min(limit, max(1, _LANE_BUDGET // threads))
        self.rows: tuple[tuple[int, int], ...] = ()
        self.raw: list[tuple] = []
        self.places: dict[ArrayInfo, int] = {}
        self.truncated = False

    def begin(self, first: int, count: int) -> None:
        """Begin a batch of ``count`` blocks at linear block ``first``."""
        self.rows = tuple((b - first, b) for b in sorted(self.blocks) if first <= b < first + count)

    def add(
        self,
        kind: str,
        line: int,
        mask: Mask,
        array=None,
        addresses=None,
        taken: Mask | None = None,
        slots: int = 0,
    ) -> None:
        """Add one event of every recorded block of the batch in which a lane is active.

        ``addresses``: bytes, of any lane shape."""
        for row, block in self.rows:
            lanes = _of_block(mask.group, mask.lanes, row)
            if lanes is not mask.group.every_lane and not lanes.any():
                continue
            if len(self.raw) >= self.limit:
                self.truncated = True
                return
            where = None if addresses is None else _of_block(mask.group, addresses, row)
            ways = None if taken is None else _of_block(mask.group, taken.lanes, row)
            self.raw.append((kind, line, block, self._index(array), slots, lanes, ways, where))

    def _index(self, array) -> int:
        if array is None:
            return -1
        return self.places.setdefault(array.info, len(self.places))

    @property
    def arrays(self) -> list[ArrayInfo]:
        """The arrays that events name, in the order of their numbers."""
        return list(self.places)

    def records(self) -> Records:
        if not self.raw:
            return Records.empty(self.threads)
        kind, line, block, array, slots, active, taken, addresses = zip(*self.raw, strict=True)
        lanes = np.array(active)
        where = np.full(lanes.shape, -1, np.int64)
        ways = np.zeros(lanes.shape, bool)
        for i, (address, way) in enumerate(zip(addresses, taken, strict=True)):
            if address is not None:
                where[i] = address
            if way is not None:
                ways[i] = way & lanes[i]
        where[~lanes] = -1
        return Records(
            np.array([KINDS.index(k) for k in kind], np.uint8),
            np.array(line, np.int32),
            np.array(block, np.int64),
            np.array(array, np.int16),
            np.array(slots, np.int32),
            lanes,
            ways,
            where,
        )


def _of_block(group: LaneGroup, values, row: int) -> np.ndarray:
    """Return the values of one block of the batch, ``(threads,)``; None stands for all lanes.

    Lanes that are not in the lane group hold 0."""
    if values is None and group.whole:
        return group.every_lane
    if not isinstance(values, np.ndarray):
        values = np.full((1, 1), True if values is None else values)
    if group.whole:
        here = values[row if len(values) > 1 else 0]
        return here if len(here) == group.threads else np.broadcast_to(here, (group.threads,))
    here = np.broadcast_to(group.block_rows == row, group.shape)
    if group.filled is not None:
        here = here & group.filled
    out = np.zeros(group.block_threads, values.dtype)
    threads = np.broadcast_to(group.thread_numbers, group.shape)[here]
    out[threads] = np.broadcast_to(values, group.shape)[here]
    return out
