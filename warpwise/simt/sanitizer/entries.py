"""Entries of the shadow: the last accesses to each element, and the races with them.

Two accesses to one element by two threads, at least one of them a write, are a race unless
something orders them (``order``), whatever order a machine happens to run them in. Atomic
operations do not race with each other; with a plain access they do. Lanes of one warp are no
exception: since Volta they need not stay in step.

For each element and kind of access two entries are kept: the last, and of those of other threads
one that is as far away as any. An access that races with a dropped one races with one of these two,
as what orders threads far apart orders the near ones too. (Only a syncwarp of part of a warp breaks
that rule; there a race may be overlooked.)"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from warpwise.simt.sanitizer.fences import THREAD_BITS
from warpwise.simt.sanitizer.order import Order
from warpwise.simt.types import Lanes, as_index

#: For each kind of access, the kinds of earlier ones that it races with.
RIVALS = {
    "load": ("store", "atomic"),
    "store": ("load", "store", "atomic"),
    "atomic": ("load", "store"),
}
MOST_CLASHES = 4  # reported for one access
_THREAD = (1 << THREAD_BITS) - 1


@dataclass(frozen=True)
class Clash:
    """A race as a shadow sees it: the cell, and both accesses.

    An access is its time, its thread (linear, in the launch) and its kind. ``same``: both are
    stores, and no two of the racing threads write different values."""

    cell: int
    first: tuple[int, int, str]
    second: tuple[int, int, str]
    same: bool = False


#: Two arrays with a column for each of the cells; several rows if the blocks share a shadow.
Values: TypeAlias = Callable[[], tuple[Lanes, Lanes]]


@dataclass(frozen=True)
class Touch:
    """One access: flat arrays of the cells it touches and of the threads that do.

    ``values``: of a store, what its threads write, and what is there before: see ``Values``."""

    kind: str
    time: int
    cells: Lanes
    threads: Lanes
    values: Values | None = None

    def changes(self, kind: str) -> Lanes | None:
        """Return by cell if a store writes what is not there; None for any other two accesses."""
        if self.values is None or kind != "store":
            return None
        new, before = self.values()
        return _differ(new, before)

    def quarrels(self) -> Lanes | None:
        """Return by cell if its thread writes another value than the last thread of that cell."""
        if self.values is None:
            return None
        new, _ = self.values()
        _, cell = np.unique(self.cells, return_inverse=True)
        last = np.zeros(len(cell), np.int64)
        last[cell] = np.arange(len(cell), dtype=np.int64)
        return _differ(new, new[:, last[cell]])

    @property
    def entries(self) -> Lanes:
        """Time and thread in one integer; 0 stands for nobody."""
        return self.threads + (self.time << THREAD_BITS)


def clashes(touch: Touch, earlier: Lanes, kind: str, order: Order, floor: int) -> list[Clash]:
    """Return the races of an access with ``earlier`` entries of one kind, one per time of those.

    Entries before ``floor`` are ordered."""
    there = (earlier >= max(floor << THREAD_BITS, 1)) & ((earlier & _THREAD) != touch.threads)
    if not there.any():
        return []
    at = np.flatnonzero(there)
    earlier, threads = earlier[at], touch.threads[at]
    times, others = earlier >> THREAD_BITS, earlier & _THREAD
    bad = order.unordered(threads, others, times)
    found: list[Clash] = []
    changes = touch.changes(kind) if bad.any() else None
    while len(found) < MOST_CLASHES and bad.any():
        worst = bad if changes is None else bad & changes[at]
        same = not worst.any()
        i = _farthest(np.flatnonzero(bad if same else worst), threads, others, order)
        first = int(times[i]), int(others[i]), kind
        second = touch.time, int(threads[i]), touch.kind
        found.append(Clash(int(touch.cells[at[i]]), first, second, same))
        bad &= times != times[i]
    return found


def _differ(a: Lanes, b: Lanes) -> Lanes:
    """Return by column if some row's values differ; a NaN is equal to any other."""
    differ = (a != b) & ~((a != a) & (b != b))
    found: Lanes = differ.any(axis=0)
    return found


def _farthest(places: Lanes, threads: Lanes, others: Lanes, order: Order) -> int:
    """Return the first place whose two threads are farthest apart: a fix there fixes all."""
    return int(places[np.argmax(order.distance(threads[places], others[places]))])


class Table:
    """Per cell, two entries of one kind of access: the last, and one of another thread."""

    def __init__(self, kind: str, cells: int):
        self.kind, self.newest = kind, 0  #: time of the newest entry
        self.last: Lanes = np.zeros(cells, np.int64)
        self.other: Lanes | None = None

    def clashes(self, touch: Touch, order: Order, floor: int) -> list[Clash]:
        """Return the races of an access with the entries here.

        The other entries are looked at, too, unless the last ones are of another warp already."""
        if self.newest <= floor:
            return []
        cells = as_index(touch.cells)
        found = clashes(touch, self.last.take(cells), self.kind, order, floor)
        far = any(order.distance(clash.first[1], clash.second[1]) > 0 for clash in found)
        if self.other is not None and not far:
            found += clashes(touch, self.other.take(cells), self.kind, order, floor)
        return found

    def enter(self, touch: Touch, order: Order, floor: int) -> list[Clash]:
        """Remember an access; return the race of a store whose threads share an element."""
        entries, cells = touch.entries, as_index(touch.cells)
        before = self.last.take(cells) if self.newest > floor else None
        self.last[cells], self.newest = entries, touch.time
        lost = self.last.take(cells) != entries
        found = []
        if lost.any():
            winners = self.last.take(cells) & _THREAD
            quarrels = touch.quarrels()
            worst = lost if quarrels is None else lost & quarrels
            same = not worst.any()
            i = _farthest(np.flatnonzero(lost if same else worst), touch.threads, winners, order)
            first = touch.time, int(touch.threads[i]), self.kind
            found = [Clash(int(cells[i]), first, (touch.time, int(winners[i]), self.kind), same)]
            self._keep(cells[lost], entries[lost], order)
        if before is not None:
            changed = before >= max(floor << THREAD_BITS, 1)
            changed &= ((before & _THREAD) != touch.threads) & ~lost
            if changed.any():
                self._keep(cells[changed], before[changed], order)
        return found if self.kind == "store" else []

    def _keep(self, cells: Lanes, entries: Lanes, order: Order) -> None:
        """Keep entries beside the last ones, if they are no nearer to them than those kept now."""
        if self.other is None:
            self.other = np.zeros(len(self.last), np.int64)
        last, kept = self.last[cells] & _THREAD, self.other[cells]
        distance = order.distance(entries & _THREAD, last)
        far = order.distance(kept & _THREAD, last)
        far[(kept == 0) | ~order.unordered(last, kept & _THREAD, kept >> THREAD_BITS)] = -1
        better = (distance >= 0) & (distance >= far)
        # of several for one cell, the last assigned stays
        nearest_first = np.argsort(distance[better], kind="stable")
        self.other[cells[better][nearest_first]] = entries[better][nearest_first]

    def repeat(self, times: int, step: int) -> None:
        """Go from one row for all blocks to a row for each.

        Thread numbers of each block are ``step`` larger than those of the one before."""
        self.last = _repeated(self.last, times, step)
        self.other = None if self.other is None else _repeated(self.other, times, step)

    def split(self, pieces: int) -> None:
        """Cut each cell into several."""
        self.last = np.repeat(self.last, pieces)
        self.other = None if self.other is None else np.repeat(self.other, pieces)


def _repeated(entries: Lanes, times: int, step: int) -> Lanes:
    return (
        entries + np.where(entries, step * np.arange(times, dtype=np.int64)[:, None], 0)
    ).reshape(-1)


class Tables:
    """The tables of some memory, by kind of access; made when first needed."""

    def __init__(self, cells: int):
        self.cells = cells
        self.by_kind: dict[str, Table] = {}

    def clashes(self, touch: Touch, order: Order, floor: int) -> list[Clash]:
        found: list[Clash] = []
        for kind in RIVALS[touch.kind]:
            if kind in self.by_kind:
                found += self.by_kind[kind].clashes(touch, order, floor)
        return found

    def enter(self, touch: Touch, order: Order, floor: int) -> list[Clash]:
        if touch.kind not in self.by_kind:
            self.by_kind[touch.kind] = Table(touch.kind, self.cells)
        return self.by_kind[touch.kind].enter(touch, order, floor)

    def newest(self, kinds: tuple[str, ...]) -> int:
        """Return the time of the newest entry of some kinds."""
        return max((self.by_kind[kind].newest for kind in kinds if kind in self.by_kind), default=0)
