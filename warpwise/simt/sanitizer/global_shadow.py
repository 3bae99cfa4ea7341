"""The shadow of global memory, for the allocations that a kernel may write.

Most accesses are regular: each thread touches the element whose number is its own, plus a constant.
Such an access of two threads or more is kept as a stretch, and those of the next batches make it
longer: a few numbers for each batch, whatever the size of the array. Everything else goes to tables
with an entry for each cell, for which the system provides memory only in the pages that are used.

A cell is an element, or less where arrays of several types lie over the same memory.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.extents import overlapping
from warpwise.simt.machine.memory import GlobalArray, Memory
from warpwise.simt.machine.site import Site
from warpwise.simt.sanitizer.entries import RIVALS, Clash, Tables, Touch, Values, clashes
from warpwise.simt.sanitizer.fences import THREAD_BITS
from warpwise.simt.sanitizer.order import Order
from warpwise.simt.types import Lanes, Value, spread

MOST_STRETCHES = 32  # of one kind; more are kept by cell


@dataclass
class Stretch:
    """Cells from ``low`` to before ``high``, each touched by the thread ``cell + delta``.

    Piece i begins at ``starts[i]``."""

    delta: int
    low: int
    high: int
    starts: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def takes(self, low: int, high: int, time: int) -> bool:
        """Enter these cells if they continue it or repeat its last piece; return True if so."""
        if low == self.high:
            self.starts.append(low)
            self.times.append(time)
            self.high = high
            return True
        if low == self.starts[-1] and high == self.high:
            self.times[-1] = time
            return True
        return False

    def entries(self, cells: Lanes) -> Lanes:
        """Return the last entries of some cells; 0 where it has not been."""
        here = (cells >= self.low) & (cells < self.high)
        first = max(bisect_right(self.starts, int(cells.min())) - 1, 0)
        last = max(bisect_right(self.starts, int(cells.max())), first + 1)
        starts = np.array(self.starts[first:last], np.int64)
        times = np.array(self.times[first:last], np.int64)
        at = np.maximum(np.searchsorted(starts, cells, side="right") - 1, 0)
        return np.where(here, cells + self.delta + (times[at] << THREAD_BITS), 0)


class GlobalShadow:
    """The shadow of one allocation: ``cells`` of ``unit`` bytes from ``address`` on."""

    def __init__(self, address: int, cells: int, unit: int):
        self.address, self.unit = address, unit
        self.tables = Tables(cells)
        self.stretches: dict[str, list[Stretch]] = {kind: [] for kind in RIVALS}

    def access(
        self,
        kind: str,
        addresses: Value,
        width: int,
        mask: Mask,
        site: Site,
        order: Order,
        values: Values | None = None,
    ) -> list[Clash]:
        """Note an access to elements of ``width`` bytes; return the races that it makes."""
        if width % self.unit:
            self._split(math.gcd(width, self.unit), order)
        time = order.clock.tick(site)
        cells, threads = self._spread(addresses, mask)
        delta = None
        if width > self.unit:
            parts = width // self.unit
            cells = (cells[:, None] + np.arange(parts, dtype=np.int64)).reshape(-1)
            threads = np.repeat(threads, parts)
        else:
            delta = _delta(cells, threads)
        touch = Touch(kind, time, cells, threads, values)
        found = self._against_stretches(touch, delta, order)
        found += self.tables.clashes(touch, order, order.grid)
        if delta is not None and self._stretched(touch, delta):
            return found
        return found + self.tables.enter(touch, order, order.grid)

    def _spread(self, addresses: Value, mask: Mask) -> tuple[Lanes, Lanes]:
        """Return the active lanes as flat arrays: cell and thread."""
        threads = mask.group.numbers
        cells = spread(addresses, threads.shape)
        if mask.lanes is None:
            cells, threads = cells.reshape(-1), threads.reshape(-1)
        else:
            active = mask.grid()
            cells, threads = cells[active], threads[active]
        cells = cells - self.address
        if self.unit > 1:
            shift = self.unit.bit_length() - 1
            cells = cells >> shift if self.unit == 1 << shift else cells // self.unit
        return cells, threads

    def _against_stretches(self, touch: Touch, delta: int | None, order: Order) -> list[Clash]:
        found: list[Clash] = []
        for kind in RIVALS[touch.kind]:
            for stretch in self.stretches[kind]:
                if stretch.delta != delta:
                    found += self._against(stretch, touch, kind, order)
        return found

    def _against(self, stretch: Stretch, touch: Touch, kind: str, order: Order) -> list[Clash]:
        cells = touch.cells
        if int(cells.max()) < stretch.low or int(cells.min()) >= stretch.high:
            return []
        return clashes(touch, stretch.entries(cells), kind, order, order.grid)

    def _split(self, unit: int, order: Order) -> None:
        """Go on with smaller cells; stretches move to the tables."""
        for kind, stretches in self.stretches.items():
            for stretch in stretches:
                cells = np.arange(stretch.low, stretch.high, dtype=np.int64)
                for time in sorted(set(stretch.times)):
                    here = cells[stretch.entries(cells) >> THREAD_BITS == time]
                    self.tables.enter(Touch(kind, time, here, here + stretch.delta), order, 0)
            stretches.clear()
        for table in self.tables.by_kind.values():
            table.split(self.unit // unit)
        self.tables.cells *= self.unit // unit
        self.unit = unit

    def _stretched(self, touch: Touch, delta: int) -> bool:
        """Keep a regular access as a stretch, if there is still room for one."""
        stretches = self.stretches[touch.kind]
        low, high = int(touch.cells[0]), int(touch.cells[-1]) + 1
        if any(s.takes(low, high, touch.time) for s in stretches if s.delta == delta):
            return True
        if high - low == 1 or len(stretches) >= MOST_STRETCHES:
            return False
        stretches.append(Stretch(delta, low, high, [low], [touch.time]))
        return True


def shadows_of(
    arrays: Iterable[GlobalArray], written: Iterable[GlobalArray]
) -> dict[Memory, GlobalShadow]:
    """Return a shadow for each of ``arrays`` that shares memory with one of ``written``.

    All of them are arguments of a launch."""
    addresses = {array.address for array in written}
    shadows: dict[Memory, GlobalShadow] = {}
    for group in overlapping(arrays):
        if addresses.isdisjoint(array.address for array in group):
            continue
        first = group[0].address
        unit = math.gcd(*(n for array in group for n in (array.cell, array.address - first)))
        shadow = GlobalShadow(first, -(-(max(array.end for array in group) - first) // unit), unit)
        shadows |= dict.fromkeys(group, shadow)
    return shadows


def _delta(cells: Lanes, threads: Lanes) -> int | None:
    """Return thread number less cell, if all agree and the cells have no gaps; threads ascend."""
    delta = int(threads[0] - cells[0])
    if int(threads[-1] - cells[-1]) != delta or int(threads[-1] - threads[0]) != len(threads) - 1:
        return None
    return delta if (threads - cells == delta).all() else None
