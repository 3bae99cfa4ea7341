"""The shadow of shared memory: elements written since the block began, and the latest accesses.

As long as offsets, masks and barriers do not depend on the block, one row of shadow serves all
blocks of the batch; the first access that does depend on it spreads the shadow over blocks. Reads
are only noted, and looked up when a write follows them before a barrier.

A shadow has one cell for each element, or a finer one where arrays of several types share the
memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.site import Site
from warpwise.simt.sanitizer.entries import RIVALS, Clash, Tables, Touch, Values
from warpwise.simt.sanitizer.order import Order
from warpwise.simt.types import Lanes, Value, common_shape, spread

MOST_READS = 128  # noted before they are looked up: each holds an array of offsets
MOST_KNOWN_LANES = 4096  # of a spread that is kept


@dataclass(frozen=True, eq=False)
class Unwritten:
    """A read of what nobody wrote: the thread in the launch, and the first cell.

    ``written``: the cells of the block that are; ``lanes``: the first cell that each of the warp's
    lanes reads."""

    thread: int
    cell: int
    written: Lanes
    lanes: Lanes


@dataclass(frozen=True, eq=False)
class _Known:
    """A spread: of an offset and a mask, which it keeps alive, to cells and threads."""

    offset: Value
    mask: Mask
    places: Lanes
    threads: Lanes


class Shadow:
    """The shadow of some shared memory over a batch of blocks, in cells of ``unit`` bytes.

    Offsets count cells; an element covers ``span`` of them."""

    def __init__(self, memory_bytes: int, unit: int, group: LaneGroup):
        cells = memory_bytes // unit
        self.group, self.unit, self.cells, self.by_block = group, unit, cells, False
        self.written, self.complete = np.zeros((1, cells), bool), False
        self.tables = Tables(cells)
        #: not looked up yet: offset, mask, time and span
        self.reads: list[tuple[Value, Mask, int, int]] = []
        self.floor = 0  #: see ``Order.floor``
        self.known: dict[tuple[int, int, int], _Known] = {}  #: spreads of late: see ``_spread``

    def unwritten(self, offset: Value, mask: Mask, span: int = 1) -> Unwritten | None:
        """Find an active lane that would read what nobody wrote."""
        if self.complete:
            return None
        places, threads = self._spread(offset, mask, span)
        missing = ~self.written.reshape(-1)[places]
        if not missing.any():
            return None
        i = int(np.argmax(missing))
        row, cell = divmod(int(places[i]), self.cells)
        first = i // span - threads[i] % WARP_SIZE  # of the lanes of its warp
        lanes = places[max(first, 0) * span : (first + WARP_SIZE) * span : span] % self.cells
        return Unwritten(int(threads[i]), cell, self.written[row], lanes)

    def access(
        self,
        kind: str,
        offset: Value,
        mask: Mask,
        site: Site,
        order: Order,
        span: int = 1,
        values: Values | None = None,
    ) -> list[Clash]:
        """Note an access; return its races with earlier ones, or between lanes of one store."""
        if order.floor != self.floor:
            self._forget(order.floor)
        time = order.clock.tick(site)
        if kind == "load":
            return self._read(offset, mask, time, order, span)
        if self.reads:
            self._look_up_reads(order)
        touch = self._touch(kind, offset, mask, time, order, span, values)
        if not self.complete and kind == "store":
            self.written.reshape(-1)[touch.cells] = True
        found = self.tables.clashes(touch, order, self.floor)
        return self._within(found + self.tables.enter(touch, order, self.floor))

    def wrote(self, kind: str, offset: Value, mask: Mask, span: int) -> None:
        """Note only what an access wrote."""
        if not self.complete and kind == "store":
            self.written.reshape(-1)[self._spread(offset, mask, span)[0]] = True

    def filled(self, first: int, size: int) -> None:
        """Note that so many bytes from ``first`` on are written, of a batch of one block."""
        self.written[:, first // self.unit : -(-(first + size) // self.unit)] = True

    def _forget(self, floor: int) -> None:
        """Drop reads before ``floor``: all blocks passed a barrier, and they can race no more."""
        self.floor, self.reads = floor, [read for read in self.reads if read[2] > floor]
        if not self.complete:
            self.complete = bool(self.written.all())

    def _read(self, offset: Value, mask: Mask, time: int, order: Order, span: int) -> list[Clash]:
        self.reads.append((offset, mask, time, span))
        if len(self.reads) > MOST_READS:
            self._look_up_reads(order)
        if self.tables.newest(RIVALS["load"]) <= self.floor:
            return []
        touch = self._touch("load", offset, mask, time, order, span)
        return self._within(self.tables.clashes(touch, order, self.floor))

    def _look_up_reads(self, order: Order) -> None:
        for offset, mask, time, span in self.reads:
            touch = self._touch("load", offset, mask, time, order, span)
            self.tables.enter(touch, order, self.floor)
        self.reads.clear()

    def _touch(
        self,
        kind: str,
        offset: Value,
        mask: Mask,
        time: int,
        order: Order,
        span: int,
        values: Values | None = None,
    ) -> Touch:
        if order.by_row:
            self._go_by_block()
        cells, threads = self._spread(offset, mask, span)
        return Touch(kind, time, cells, threads, values and partial(_in_rows, values, cells.size))

    def _within(self, found: list[Clash]) -> list[Clash]:
        """Count cells from the start of their block's memory."""
        return [replace(clash, cell=clash.cell % self.cells) for clash in found]

    def _spread(self, offset: Value, mask: Mask, span: int) -> tuple[Lanes, Lanes]:
        """Return the active lanes as flat arrays: cell and thread.

        Where one row serves all blocks, the threads are those of the first. A read is spread when
        it is made, again when it is looked up, and in a loop perhaps in each trip."""
        key = id(offset), id(mask), span
        known = self.known.get(key)
        if known is None:
            places, threads = self._spread_now(offset, mask, span)
            if places.size > MOST_KNOWN_LANES:
                return places, threads
            if len(self.known) > MOST_READS:
                self.known.clear()
            known = self.known[key] = _Known(offset, mask, places, threads)
        return known.places, known.threads

    def _spread_now(self, offset: Value, mask: Mask, span: int) -> tuple[Lanes, Lanes]:
        lanes: tuple[int, ...] = () if mask.lanes is None else mask.lanes.shape
        group = mask.group
        shape = common_shape(np.shape(offset), group.thread_numbers.shape, lanes)
        if shape[0] > 1 or not group.whole:
            self._go_by_block()
        if self.by_block:
            shape, numbers = group.shape, group.numbers
            offset = offset + group.block_rows * self.cells
        else:
            numbers = group.numbers[:1]
        offset = spread(offset, shape)
        if mask.lanes is None:
            places, threads = offset.reshape(-1), numbers.reshape(-1)
        else:
            active = spread(mask.lanes, shape)
            places, threads = offset[active], numbers[active]
        if span > 1:
            places = (places[:, None] + np.arange(span, dtype=np.int64)).reshape(-1)
            threads = np.repeat(threads, span)
        return places, threads

    def _go_by_block(self) -> None:
        if self.by_block:
            return
        self.by_block, rows = True, self.group.rows
        self.known.clear()
        self.written = np.repeat(self.written, rows, axis=0)
        self.tables.cells = self.cells * rows
        for table in self.tables.by_kind.values():
            table.repeat(rows, self.group.block_threads)

    def split(self, part: int) -> None:
        """Go on with cells of which ``part`` bytes are a whole number."""
        pieces = self.unit // math.gcd(part, self.unit)
        self.unit //= pieces
        self.cells *= pieces
        self.known.clear()
        self.written = np.repeat(self.written, pieces, axis=1)
        self.tables.cells *= pieces
        for table in self.tables.by_kind.values():
            table.split(pieces)
        self.reads = [
            (offset * pieces, mask, time, span * pieces) for offset, mask, time, span in self.reads
        ]


def _in_rows(values: Values, cells: int) -> tuple[Lanes, Lanes]:
    """Return a store's values with a row for each block that shares the shadow.

    The active lanes of these blocks are the same."""
    new, before = values()
    return new.reshape(-1, cells), before.reshape(-1, cells)
