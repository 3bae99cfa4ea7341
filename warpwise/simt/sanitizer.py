"""The shadow of a shared array: what was written since the block began, and who touched what since the last barrier.

Two accesses to one element by two threads of a block, at least one of them a write, with no barrier between them, are a race,
whatever order a machine happens to run them in. Lanes of one warp are no exception: since Volta they need not stay in step.

As long as offsets and masks do not depend on the block, one row of shadow serves all blocks of the batch; it is spread over
blocks by the first access that does. Reads are only noted, and looked up when a write follows them before a barrier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.simt.extent import Extent
from warpwise.simt.masks import Mask

NOBODY = -1


@dataclass(frozen=True)
class Side:
    """One access of a race: thread number in the block, source line, reading or writing."""

    thread: int
    line: int
    writes: bool


@dataclass(frozen=True)
class Clash:
    """A race as the shadow sees it: block row of the batch, element of the array, the earlier and the later access."""

    row: int
    element: int
    first: Side
    second: Side


class Table:
    """Per element, the last thread that touched it, one other thread that did, and the line; ``(rows, elements)``."""

    def __init__(self, rows: int, elements: int):
        self.last = np.full((rows, elements), NOBODY, np.int32)
        self.other = self.last.copy()
        self.line = np.zeros((rows, elements), np.int32)
        self.used = False

    def enter(self, at, threads: np.ndarray, line: int) -> None:
        before = self.last[at]
        self.last[at], self.line[at], self.used = threads, line, True
        changed = (before != NOBODY) & (before != threads)
        lost = self.last[at] != threads
        if changed.any() or lost.any():
            rows, places = at
            self.other[rows[changed], places[changed]] = before[changed]
            self.other[rows[lost], places[lost]] = threads[lost]

    def clash(self, at, threads: np.ndarray, line: int, writes: bool, table_writes: bool) -> Clash | None:
        """The first of these accesses that another thread's entry races with."""
        if not self.used:
            return None
        last, other = self.last[at], self.other[at]
        bad = ((last != NOBODY) & (last != threads)) | ((other != NOBODY) & (other != threads))
        if not bad.any():
            return None
        i = int(np.argmax(bad))
        row, place, thread = int(at[0][i]), int(at[1][i]), int(threads[i])
        first = int(last[i]) if last[i] not in (NOBODY, thread) else int(other[i])
        return Clash(row, place, Side(first, int(self.line[row, place]), table_writes), Side(thread, line, writes))

    def forget(self, rows=slice(None)) -> None:
        if self.used:
            self.last[rows] = self.other[rows] = NOBODY
            self.used = not isinstance(rows, slice)

    def spread(self, blocks: int) -> None:
        self.last, self.other, self.line = (np.repeat(part, blocks, axis=0) for part in (self.last, self.other, self.line))


class Shadow:
    """The shadow of one shared array over a batch of blocks."""

    def __init__(self, elements: int, extent: Extent):
        self.extent, self.by_block = extent, False
        self.written, self.complete = np.zeros((1, elements), bool), False
        self.readers, self.writers = Table(1, elements), Table(1, elements)
        self.reads: list[tuple] = []

    def unwritten(self, offset, mask: Mask) -> tuple[int, int, int] | None:
        """(block row, thread, element) of an active lane that would read what nobody wrote; None if there is none."""
        if self.complete:
            return None
        at, threads = self._spread(offset, mask)
        missing = ~self.written[at]
        if not missing.any():
            return None
        i = int(np.argmax(missing))
        return int(at[0][i]), int(threads[i]), int(at[1][i])

    def read(self, offset, mask: Mask, line: int) -> Clash | None:
        """Note a read; the race it makes with an earlier write, if it does."""
        self.reads.append((offset, mask, line))
        if not self.writers.used:
            return None
        return self.writers.clash(*self._spread(offset, mask), line, writes=False, table_writes=True)

    def write(self, offset, mask: Mask, line: int) -> Clash | None:
        """Note a write; the race it makes with an earlier access or with another lane of the same store, if it does."""
        self._look_up_reads()
        at, threads = self._spread(offset, mask)
        if not self.complete:
            self.written[at] = True
        race = self.readers.clash(at, threads, line, writes=True, table_writes=False)
        race = race or self.writers.clash(at, threads, line, writes=True, table_writes=True)
        self.writers.enter(at, threads, line)
        return race or self.writers.clash(at, threads, line, writes=True, table_writes=True)

    def barrier(self, mask: Mask) -> None:
        """Forget the accesses of the blocks that pass a barrier."""
        if not self.complete and self.written.all():
            self.complete = True
        if mask.extent.whole and (mask.lanes is None or mask.lanes.shape[0] == 1):
            self.readers.forget()
            self.writers.forget()
            self.reads.clear()
            return
        self._look_up_reads()
        self._go_by_block()
        passed = mask.extent.block_rows[mask.grid().any(axis=1), 0]
        self.readers.forget(passed)
        self.writers.forget(passed)

    def _spread(self, offset, mask: Mask) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """The active lanes as flat arrays: (block row, element) and thread."""
        lanes, extent = () if mask.lanes is None else mask.lanes.shape, mask.extent
        shape = np.broadcast_shapes(np.shape(offset), extent.thread_numbers.shape, lanes)
        if shape[0] > 1 or not extent.whole:
            self._go_by_block()
        if self.by_block:
            shape = extent.shape
        rows = np.broadcast_to(extent.block_rows[: shape[0]], shape)
        parts = rows, np.broadcast_to(offset, shape), np.broadcast_to(extent.thread_numbers, shape)
        if mask.lanes is None:
            rows, places, threads = (part.ravel() for part in parts)
        else:
            active = np.broadcast_to(mask.lanes, shape)
            rows, places, threads = (part[active] for part in parts)
        return (rows, places), threads

    def _go_by_block(self) -> None:
        if not self.by_block:
            self.by_block = True
            self.written = np.repeat(self.written, self.extent.rows, axis=0)
            self.readers.spread(self.extent.rows)
            self.writers.spread(self.extent.rows)

    def _look_up_reads(self) -> None:
        for offset, mask, line in self.reads:
            self.readers.enter(*self._spread(offset, mask), line)
        self.reads.clear()
