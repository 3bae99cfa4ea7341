"""The shadow of memory: who touched each element last, and whether what is done to it now races with that.

Two accesses to one element by two threads, at least one of them a write, are a race unless something orders them (``order``), whatever
order a machine happens to run them in. Atomic operations do not race with each other; with a plain access they do. Lanes of one warp
are no exception: since Volta they need not stay in step.

For each element and kind of access two entries are kept: the last, and of those of other threads one that is as far away as there is.
Whoever races with an access that was dropped races with one of these two, as what orders threads far apart orders the near ones too.
(Only a syncwarp of a part of a warp breaks that rule; there a race may be overlooked.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.simt.sanitizer.fences import THREAD_BITS
from warpwise.simt.sanitizer.order import Order

#: What races with an access: the kinds of earlier ones.
RIVALS = {"load": ("store", "atomic"), "store": ("load", "store", "atomic"), "atomic": ("load", "store")}
MOST_CLASHES = 4  # told of one access
_THREAD = (1 << THREAD_BITS) - 1


@dataclass(frozen=True)
class Clash:
    """A race as a shadow sees it: the cell, and of both accesses time, thread (linear, in the launch) and kind."""

    cell: int
    first: tuple[int, int, str]
    second: tuple[int, int, str]


@dataclass(frozen=True)
class Touch:
    """One access: flat arrays of the cells it names and of the threads that do."""

    kind: str
    time: int
    cells: np.ndarray
    threads: np.ndarray

    @property
    def entries(self) -> np.ndarray:
        """Time and thread in one integer; 0 stands for nobody."""
        return self.threads + (self.time << THREAD_BITS)


def clashes(touch: Touch, cells: np.ndarray, threads: np.ndarray, earlier: np.ndarray, kind: str, order: Order, floor: int) -> list[Clash]:
    """The races of an access with ``earlier`` entries of one kind, one for each of their times. Entries before ``floor`` are ordered."""
    there = (earlier >= max(floor << THREAD_BITS, 1)) & ((earlier & _THREAD) != threads)
    if not there.any():
        return []
    at = np.flatnonzero(there)
    earlier, threads = earlier[at], threads[at]
    times, others = earlier >> THREAD_BITS, earlier & _THREAD
    bad = order.unordered(threads, others, times)
    found = []
    while len(found) < MOST_CLASHES and bad.any():
        i = _farthest(np.flatnonzero(bad), threads, others, order)
        found.append(Clash(int(cells[at[i]]), (int(times[i]), int(others[i]), kind), (touch.time, int(threads[i]), touch.kind)))
        bad &= times != times[i]
    return found


def _farthest(places: np.ndarray, threads: np.ndarray, others: np.ndarray, order: Order) -> int:
    """The first of some places whose two threads are as far apart as any: what mends that race mends the others."""
    return int(places[np.argmax(order.distance(threads[places], others[places]))])


class Table:
    """Per cell, two entries of one kind of access: the last, and one of another thread."""

    def __init__(self, kind: str, cells: int):
        self.kind, self.newest = kind, 0  #: time of the newest entry
        self.last, self.other = np.zeros(cells, np.int64), None

    def clashes(self, touch: Touch, order: Order, floor: int) -> list[Clash]:
        """The races of an access with what is entered here."""
        if self.newest <= floor:
            return []
        found = clashes(touch, touch.cells, touch.threads, self.last.take(touch.cells), self.kind, order, floor)
        if not found and self.other is not None:
            found = clashes(touch, touch.cells, touch.threads, self.other.take(touch.cells), self.kind, order, floor)
        return found

    def enter(self, touch: Touch, order: Order, floor: int) -> list[Clash]:
        """Remember an access. Returns the race of a store in which several threads name one element."""
        entries, cells = touch.entries, touch.cells
        before = self.last.take(cells) if self.newest > floor else None
        self.last[cells], self.newest = entries, touch.time
        lost = self.last.take(cells) != entries
        told = []
        if lost.any():
            winners = self.last.take(cells) & _THREAD
            i = _farthest(np.flatnonzero(lost), touch.threads, winners, order)
            told = [Clash(int(cells[i]), (touch.time, int(touch.threads[i]), self.kind), (touch.time, int(winners[i]), self.kind))]
            self._keep(cells[lost], entries[lost], order)
        if before is not None:
            changed = (before >= max(floor << THREAD_BITS, 1)) & ((before & _THREAD) != touch.threads) & ~lost
            if changed.any():
                self._keep(cells[changed], before[changed], order)
        return told if self.kind == "store" else []

    def _keep(self, cells: np.ndarray, entries: np.ndarray, order: Order) -> None:
        """Keep entries beside the last ones, if they are no nearer to them than what is kept already."""
        if self.other is None:
            self.other = np.zeros(len(self.last), np.int64)
        last, kept = self.last[cells] & _THREAD, self.other[cells]
        distance, far = order.distance(entries & _THREAD, last), order.distance(kept & _THREAD, last)
        far[(kept == 0) | ~order.unordered(last, kept & _THREAD, kept >> THREAD_BITS)] = -1
        better = (distance >= 0) & (distance >= far)
        nearest_first = np.argsort(distance[better], kind="stable")  # of several for one cell, the last assigned stays
        self.other[cells[better][nearest_first]] = entries[better][nearest_first]

    def repeat(self, times: int, step: int) -> None:
        """From one row for all blocks to a row for each; thread numbers of each block are ``step`` larger than of the one before."""
        self.last = _repeated(self.last, times, step)
        self.other = None if self.other is None else _repeated(self.other, times, step)

    def split(self, pieces: int) -> None:
        """Each cell becomes several."""
        self.last = np.repeat(self.last, pieces)
        self.other = None if self.other is None else np.repeat(self.other, pieces)


def _repeated(entries: np.ndarray, times: int, step: int) -> np.ndarray:
    return (entries + np.where(entries, step * np.arange(times)[:, None], 0)).reshape(-1)


class Tables:
    """The tables of some memory, by kind of access; made when first needed."""

    def __init__(self, cells: int):
        self.cells, self.by_kind = cells, {}

    def clashes(self, touch: Touch, order: Order, floor: int) -> list[Clash]:
        found = []
        for kind in RIVALS[touch.kind]:
            if kind in self.by_kind:
                found += self.by_kind[kind].clashes(touch, order, floor)
        return found

    def enter(self, touch: Touch, order: Order, floor: int) -> list[Clash]:
        if touch.kind not in self.by_kind:
            self.by_kind[touch.kind] = Table(touch.kind, self.cells)
        return self.by_kind[touch.kind].enter(touch, order, floor)

    def newest(self, kinds: tuple[str, ...]) -> int:
        """The time of the newest entry of some kinds."""
        return max((self.by_kind[kind].newest for kind in kinds if kind in self.by_kind), default=0)
