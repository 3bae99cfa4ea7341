"""The order of accesses: their times, and the syncs that put those before them before those after.

Every access and every barrier of a launch has a time of its own, in the order of the simulation.
That order proves nothing: an access of one thread comes before an access of another only if one of
these lies between them.

- a block barrier (``syncthreads`` and its kin) of their block;
- a ``syncwarp`` that both lanes take part in, or a chain of them;
- a sync of the whole grid;
- a fence and an atomic of the one, then an atomic of the other: see ``fences``;
- an arrival of the one at an mbarrier, then a wait of the other: see ``handed``.

Shuffles and votes order nothing. Where a sync is the same for all blocks of a batch, its time is
one integer; it becomes an array when blocks or warps begin to differ. What this leaves out:
accesses to different elements."""

from __future__ import annotations

from array import array

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.async_events import AsyncEvent
from warpwise.simt.machine.members import Members
from warpwise.simt.machine.site import Site
from warpwise.simt.sanitizer.fences import THREAD_BITS, Fences
from warpwise.simt.sanitizer.handed import Handed
from warpwise.simt.types import Lanes, Value, as_array

_WARP_SHIFT = WARP_SIZE.bit_length() - 1
LAST_TIME = (1 << (63 - THREAD_BITS)) - 1


class Clock:
    """The times of a launch, from 1, and the site of the access at each.

    ``spent``: none are left, and no more races are reported."""

    def __init__(self) -> None:
        self.sites: list[Site] = []  #: those seen, each once
        self._numbers: dict[int, int] = {}
        self._at = array("I", [0])

    @property
    def spent(self) -> bool:
        return len(self._at) > LAST_TIME

    def tick(self, site: Site | None = None) -> int:
        """Return a new time, for an access at a site or for a sync."""
        self._at.append(0 if site is None else self._number(site))
        return len(self._at) - 1

    def _number(self, site: Site) -> int:
        number = self._numbers.get(id(site))
        if number is None:
            number = self._numbers[id(site)] = len(self.sites)
            self.sites.append(site)
        return number

    def site(self, time: int) -> Site:
        """Return the site of the access at a time."""
        return self.sites[self._at[time]]


class Order:
    """The order of the accesses of one batch.

    Threads are linear numbers in the launch, in flat arrays of one length."""

    def __init__(self, clock: Clock, group: LaneGroup, fences: Fences | None = None):
        self.clock, self.group, self.fences = clock, group, fences
        self.warps = -(-group.threads // WARP_SIZE)
        self.grid: int = 0  #: time of the last sync of the grid
        self.block: int | Lanes = 0  #: of the last barrier, or by row, ``(rows,)``
        #: of the last syncwarp of all lanes of a warp, or by warp, ``(1 or rows, warps)``
        self.warp: int | Lanes = 0
        #: time before which a lane knows what another did, ``(1 or rows, warps, 32, 32)``
        self.lanes: Lanes | None = None
        #: of threads that miss a barrier, the time of the last one that they passed, ``(rows,
        #: threads)``; of all others a time that never comes
        self.absent: Lanes | None = None
        self.handed: Handed | None = None  #: of a block with mbarriers

    # --- what happens ---

    def missed(self, mask: Mask) -> None:
        """The barrier that comes now, and later ones, order nothing for these threads."""
        lanes, last = np.zeros(self.group.shape, bool), self.block
        lanes.reshape(-1)[mask.group.places[mask.grid()]] = True
        if self.absent is None:
            self.absent = np.full(lanes.shape, LAST_TIME, np.int64)
        since = last if isinstance(last, int) else last[:, None]
        self.absent = np.where(lanes & (self.absent == LAST_TIME), since, self.absent)

    def barrier(self, mask: Mask) -> None:
        """A block barrier, of the blocks of the active lanes."""
        time = self.clock.tick()
        rows = _whole_rows(mask)
        if rows is None:
            self.block = time
        else:
            if isinstance(self.block, int):
                self.block = np.full(self.group.rows, self.block, np.int64)
            self.block[rows] = time
        if self.fences is not None:
            self.fences.barrier(self.group, rows)

    def syncwarp(self, members: Members) -> None:
        """A syncwarp: the active lanes of a warp that name the same mask meet."""
        mask, named = members.mask, members.named
        time, group = self.clock.tick(), mask.group
        if self.fences is not None:
            self.fences.syncwarp(time, mask)
        if mask.lanes is None and group.whole and not isinstance(named, np.ndarray):
            self.warp, self.lanes = time, None
            return
        one_row = isinstance(self.warp, int) or len(self.warp) == 1
        one_mask = mask.lanes is None or len(mask.lanes) == 1
        alike = one_row and one_mask and group.whole and len(np.atleast_2d(named)) == 1
        shape = (1, group.threads) if alike else group.shape
        here = np.broadcast_to(True if mask.lanes is None else mask.lanes, shape)
        parts = (0 if alike else group.block_rows), group.thread_numbers, named
        rows, threads, names = (np.broadcast_to(as_array(part), shape)[here] for part in parts)
        times = self._rows(1 if alike else group.rows)
        self._meet(times, rows, threads // WARP_SIZE, threads % WARP_SIZE, names, time)

    def fence(self, mask: Mask, scope: str) -> None:
        """A ``threadfence``: ``scope`` is "block", "grid" or "system"."""
        if self.fences is not None:
            self.fences.fence(self.clock.tick(), mask, scope, self.block)

    def atomic(self, mask: Mask, space: str) -> None:
        """An atomic of the active lanes: it publishes fenced writes and learns of others' ones."""
        if self.fences is not None:
            self.fences.atomic(self.clock.tick(), mask, "block" if space == "shared" else "grid")

    def handover(self, event: AsyncEvent) -> None:
        """A word of ``hopper``, of a block that runs by itself."""
        if self.handed is None:
            self.handed = Handed(self.warps, self.group)
        self.handed.handover(event, self.clock.tick())

    def grid_sync(self) -> None:
        """All threads of the launch have met."""
        self.grid = self.block = self.warp = self.clock.tick()
        self.lanes = None

    # --- what that means ---

    @property
    def by_row(self) -> bool:
        """True if the blocks of the batch differ in what is ordered."""
        by_warp = isinstance(self.warp, np.ndarray) and len(self.warp) > 1
        by_block = isinstance(self.block, np.ndarray) or self.absent is not None
        return self.fences is not None or by_warp or by_block

    @property
    def floor(self) -> int:
        """The time before which all accesses of a block precede its next, in the whole batch."""
        last = self.block if isinstance(self.block, int) else int(self.block.min())
        return last if self.absent is None else min(last, int(self.absent.min()))

    def unordered(self, me: Lanes, other: Lanes, times: Lanes) -> Lanes:
        """Return True where nothing orders ``other`` at ``times`` before what ``me`` does now."""
        block, his = self._block_of(me), self._block_of(other)
        same = block == his
        if self._by_block_alone:
            found = times >= np.where(same, self.block, self.grid)
        else:
            size, row = self.group.block_threads, np.where(same, block - self.group.first, 0)
            in_block = self._in_block(row, me - block * size, other - his * size)
            found = times >= np.where(same, in_block, self.grid)
        if self.handed is not None:
            found &= ~self.handed.ordered(me, other, times)
        return found if self.fences is None else found & ~self.fences.ordered(me, other, times)

    @property
    def _by_block_alone(self) -> bool:
        """True if all threads of every block met last at one time, and no warp since."""
        if not isinstance(self.block, int) or not isinstance(self.warp, int):
            return False
        return self.absent is None and self.lanes is None and self.warp <= self.block

    def _in_block(self, rows: Lanes, threads: Lanes, others: Lanes) -> Value:
        """Return the time before which the accesses of ``others`` precede those of ``threads`` now.

        Pairs of threads are of the same block."""
        time: Value = self.block if isinstance(self.block, int) else self.block[rows]
        if self.absent is not None:
            time = np.minimum(time, self.absent[rows, threads])
            time = np.minimum(time, self.absent[rows, others])
        warp = threads >> _WARP_SHIFT
        together = warp == others >> _WARP_SHIFT
        row: Value = rows
        if isinstance(self.warp, np.ndarray) or self.warp:
            row = rows if isinstance(self.warp, np.ndarray) and len(self.warp) > 1 else 0
            own = self.warp if isinstance(self.warp, int) else self.warp[row, warp]
            time = np.where(together, np.maximum(time, own), time)
        if self.lanes is not None:
            known = self.lanes[row, warp, threads % WARP_SIZE, others % WARP_SIZE]
            time = np.where(together, np.maximum(time, known), time)
        return time

    def distance(self, a: Value, b: Value) -> Lanes:
        """Return how far apart threads are: -1 for one, 0 in a warp, 1 in a block, 2 beyond."""
        size = self.group.block_threads
        if size & (size - 1) == 0:
            bits = a ^ b
            far = np.add(bits >= size, bits >= min(size, WARP_SIZE), dtype=np.int8)
            found: Lanes = far + np.not_equal(bits, 0) - np.int8(1)
            return found
        mine, his = self._block_of(a), self._block_of(b)
        if size % WARP_SIZE:
            a, b = a - mine * size, b - his * size
        warps = a >> _WARP_SHIFT != b >> _WARP_SHIFT
        return np.where(mine != his, 2, np.where(warps, 1, np.where(a != b, 0, -1)))

    def _block_of(self, threads: Value) -> Value:
        """Return the blocks of some threads; shifts are many times faster than divisions."""
        size = self.group.block_threads
        return threads >> size.bit_length() - 1 if size & (size - 1) == 0 else threads // size

    def _rows(self, rows: int) -> Lanes:
        """Keep the times of warps in at least as many rows, and return them."""
        times = self.warp
        if isinstance(times, int):
            times = np.full((rows, self.warps), times, np.int64)
        if rows > len(times):
            times = np.repeat(times, self.group.rows, axis=0)
            if self.lanes is not None:
                self.lanes = np.repeat(self.lanes, self.group.rows, axis=0)
        self.warp = times
        return times

    def _meet(
        self, times: Lanes, rows: Lanes, warps: Lanes, lanes: Lanes, names: Lanes, time: int
    ) -> None:
        """Let the lanes of each warp that name one mask meet."""
        keys = (rows * self.warps + warps << 32) + names
        _, groups, met = np.unique(keys, return_inverse=True, return_counts=True)
        whole = met[groups] == np.minimum(WARP_SIZE, self.group.block_threads - warps * WARP_SIZE)
        times[rows[whole], warps[whole]] = time
        if whole.all():
            return
        if self.lanes is None:
            self.lanes = np.zeros((*times.shape, WARP_SIZE, WARP_SIZE), np.int64)
        part = ~whole
        at = rows[part], warps[part], lanes[part]
        _meet_partly(self.lanes, at, groups[part], time)


def _meet_partly(lanes: Lanes, at: tuple[Lanes, Lanes, Lanes], groups: Lanes, time: int) -> None:
    """Let each lane of a group know what any of them knew, and what each of them did.

    ``lanes``: see ``Order.lanes``; ``at``: the row, warp and lane of each."""
    known = np.zeros((int(groups.max()) + 1, WARP_SIZE), np.int64)
    np.maximum.at(known, groups, lanes[at])
    known[groups, at[2]] = time
    lanes[at] = known[groups]


def _whole_rows(mask: Mask) -> Lanes | None:
    """Return the blocks of the batch, by row, that have an active lane; None for all of them."""
    group = mask.group
    if group.whole and (mask.lanes is None or mask.lanes.shape[0] == 1):
        return None
    return np.unique(np.broadcast_to(group.block_rows, group.shape)[mask.grid()])
