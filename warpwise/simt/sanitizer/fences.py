"""Fences: the order that a fence and atomics give to accesses, as in the last-block pattern.

A thread writes, calls ``threadfence``, then does an atomic; another thread does an atomic later and
reads. The writes before the fence come before the reads after the second atomic. Both ends reach
further through a block barrier: a fence covers what all threads of its block did before their last
barrier; an atomic of one thread speaks, after a barrier, for all that its block fenced before it;
and all threads of the block know, after a barrier, what it learned (CUDA C++ Programming Guide,
"Memory Fence Functions" and "Memory Consistency"). A syncwarp does for a warp what a barrier does
for a block. ``threadfence_block`` does the same between threads of one block only.

What this leaves out: the addresses of the atomics, and plain loads and stores of volatile flags.
Kept only for kernels that have a fence: six integers for each thread."""

from __future__ import annotations

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.types import Lanes, Value

THREAD_BITS = 34  # of an entry; the rest, without the sign, is its time


class _Level:
    """Fences of one scope.

    A thread that knows of the atomic ``given_at[u]`` knows what thread u did before the time
    ``given[u]``. An atomic is named by its entry, time and thread: lanes of one atomic take effect
    in the order of their threads."""

    def __init__(self, blocks: int, block_threads: int):
        self.block_threads = block_threads
        shape = blocks, block_threads
        self.fenced, self.ready, self.taken = (np.zeros(shape, np.int64) for _ in range(3))
        self.given, self.given_at = (np.zeros(shape, np.int64) for _ in range(2))
        self.met = np.zeros(shape, np.int64)  #: each thread's last syncwarp
        self.wide = np.zeros(shape, np.int64)  #: the barrier before each thread's last fence
        self.wide_ready, self.last, self.taken_by_block = np.zeros((3, blocks), np.int64)
        self.wide_given, self.wide_given_at = np.zeros((2, blocks), np.int64)

    def fence(self, time: int, blocks: Lanes, threads: Lanes, barriers: Value) -> None:
        self.fenced[blocks, threads] = time
        self.wide[blocks, threads] = barriers
        met = self.met[blocks, threads]
        if met.any():
            self._cover_warps(blocks, threads, met)

    def _cover_warps(self, blocks: Lanes, threads: Lanes, met: Lanes) -> None:
        """Let a fence cover what the lanes of the thread's last syncwarp did before that."""
        first = threads - threads % WARP_SIZE
        for lane in range(WARP_SIZE):
            others = np.minimum(first + lane, self.block_threads - 1)
            together = self.met[blocks, others] == met
            np.maximum.at(self.ready, (blocks[together], others[together]), met[together])

    def syncwarp(self, time: int, blocks: Lanes, threads: Lanes) -> None:
        """Let lanes that meet share: what one fenced all may give, what one has taken all know."""
        at = blocks, threads
        self.ready[at] = np.maximum(self.ready[at], self.fenced[at])
        numbers = blocks * self.block_threads + threads // WARP_SIZE
        _, warps = np.unique(numbers, return_inverse=True)
        most = np.zeros(warps.max() + 1, np.int64)
        np.maximum.at(most, warps, self.taken[at])
        self.taken[at], self.met[at] = most[warps], time

    def atomic(self, entries: Lanes, blocks: Lanes, threads: Lanes) -> None:
        at = blocks, threads
        self._give(self.given, self.given_at, at, self.fenced[at], entries)
        np.maximum.at(self.wide_ready, blocks, self.wide[at])
        first, where = np.unique(blocks, return_index=True)
        speakers = entries[where]  # the first atomic of each block
        self._give(self.wide_given, self.wide_given_at, first, self.wide_ready[first], speakers)
        self._give(self.given, self.given_at, first, self.ready[first], speakers[:, None])
        self.taken[at] = entries
        np.maximum.at(self.last, blocks, entries)

    def _give(
        self, given: Lanes, given_at: Lanes, at: Value, covered: Lanes, entries: Lanes
    ) -> None:
        new = covered > given[at]
        given_at[at] = np.where(new, entries, given_at[at])
        given[at] = np.where(new, covered, given[at])

    def barrier(self, blocks: slice | Lanes) -> None:
        self.ready[blocks] = self.fenced[blocks]
        self.wide_ready[blocks] = np.maximum(self.wide_ready[blocks], self.wide[blocks].max(axis=1))
        self.taken_by_block[blocks] = self.last[blocks]

    def ordered(self, me: Lanes, other: Lanes, times: Lanes) -> Lanes:
        mine, his = me // self.block_threads, other // self.block_threads
        known = np.maximum(self.taken.reshape(-1)[me], self.taken_by_block[mine])
        own = (times < self.given.reshape(-1)[other]) & (self.given_at.reshape(-1)[other] <= known)
        wide = (times < self.wide_given[his]) & (self.wide_given_at[his] <= known)
        ordered: Lanes = own | wide
        return ordered


class Fences:
    """The fences of a launch. Threads below are linear numbers in the launch."""

    def __init__(self, blocks: int, block_threads: int):
        self.block_threads = block_threads
        self.levels = {scope: _Level(blocks, block_threads) for scope in ("grid", "block")}

    def fence(self, time: int, mask: Mask, scope: str, barriers: int | Lanes) -> None:
        """Fence by the active lanes.

        ``barriers``: the time of the last barrier of each block of the batch, or of all."""
        blocks, threads = self._threads(mask)
        if not isinstance(barriers, int):
            barriers = barriers[blocks - mask.group.first]
        for level in self._of(scope):
            level.fence(time, blocks, threads, barriers)

    def atomic(self, time: int, mask: Mask, scope: str) -> None:
        """Do an atomic of the active lanes.

        ``scope``: "block" for an atomic on shared memory, which no other block knows."""
        blocks, threads = self._threads(mask)
        entries = (time << THREAD_BITS) + blocks * self.block_threads + threads
        for level in self._of(scope):
            level.atomic(entries, blocks, threads)

    def _of(self, scope: str) -> list[_Level]:
        return [self.levels["block"]] if scope == "block" else list(self.levels.values())

    def syncwarp(self, time: int, mask: Mask) -> None:
        """Let the active lanes of each warp meet, which are taken to be those of the mask."""
        blocks, threads = self._threads(mask)
        for level in self.levels.values():
            level.syncwarp(time, blocks, threads)

    def barrier(self, group: LaneGroup, rows: Lanes | None) -> None:
        """Pass a block barrier. ``rows``: the blocks of the batch that do, None for all."""
        everyone = slice(group.first, group.first + group.rows)
        for level in self.levels.values():
            level.barrier(everyone if rows is None else group.first + rows)

    def ordered(self, me: Lanes, other: Lanes, times: Lanes) -> Lanes:
        """Return True where what ``other`` did at ``times`` precedes what ``me`` does now.

        Three arrays of one length."""
        same = me // self.block_threads == other // self.block_threads
        grid, block = (self.levels[scope].ordered(me, other, times) for scope in ("grid", "block"))
        ordered: Lanes = grid | same & block
        return ordered

    def _threads(self, mask: Mask) -> tuple[Lanes, Lanes]:
        numbers = mask.group.numbers[mask.grid()]
        return numbers // self.block_threads, numbers % self.block_threads
