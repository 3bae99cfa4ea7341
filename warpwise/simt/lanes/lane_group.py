"""Lane groups: the lanes that run together, as rows of threads with their places in the launch.

A whole batch has one row for each block. A *compacted* lane group has some of its rows only, or one
row of 32 lanes for each of some of its warps: so a loop that few threads are still in costs only
what those few cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypedDict

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.types import Lanes, Value
from warpwise.traces import unlinear

Shape: TypeAlias = tuple[int, int, int]


class Who(TypedDict):
    """A thread, by the names that messages use."""

    block: Shape
    thread: Shape


@dataclass(frozen=True, eq=False)
class LaneGroup:
    """``rows`` x ``threads`` lanes.

    Coordinates are ints where they are the same for all, else ``(1, threads)``, ``(rows, 1)`` or
    both."""

    rows: int
    threads: int
    grid: Shape
    block: Shape
    first: int  #: linear number of the batch's first block
    thread_index: tuple[Value, ...]  #: ``cuda.threadIdx``
    block_index: tuple[Value, ...]  #: ``cuda.blockIdx``
    block_rows: Lanes  #: the block of each row, counted from the batch's first, ``(rows, 1)``
    #: linear number of each thread in its block, ``(1, threads)`` or ``(rows, threads)``
    thread_numbers: Lanes
    filled: Lanes | None = None  #: true for lanes that are threads, where not all are
    whole: bool = True  #: one row for each block of the batch, in order

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.threads

    @cached_property
    def every_lane(self) -> Lanes:
        """True for each lane of a row, ``(threads,)``; not to be written to."""
        return np.ones(self.threads, bool)

    @cached_property
    def lane(self) -> Lanes:
        """``cuda.laneid``."""
        return self.thread_numbers % WARP_SIZE

    @cached_property
    def block_threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @cached_property
    def block_warps(self) -> int:
        """Warps of a block."""
        return -(-self.block_threads // WARP_SIZE)

    @cached_property
    def warp_places(self) -> Lanes:
        """Each warp's number among the warps of the whole batch, ``(rows, warps of a row)``."""
        in_its_row: Lanes = self.thread_numbers[:, ::WARP_SIZE] // WARP_SIZE
        return self.block_rows * self.block_warps + in_its_row

    @cached_property
    def places(self) -> Lanes:
        """Each lane's number among the lanes of the whole batch, ``(rows, threads)``."""
        return self.block_rows * self.block_threads + self.thread_numbers

    @cached_property
    def numbers(self) -> Lanes:
        """Each lane's linear thread number in the launch, ``(rows, threads)``."""
        return self.places + self.first * self.block_threads

    def grid_index(self, axis: int) -> Value:
        """``cuda.grid`` along one axis."""
        return self._grid_indices[axis]

    @cached_property
    def _grid_indices(self) -> tuple[Value, ...]:
        return tuple(
            b * size + t
            for b, size, t in zip(self.block_index, self.block, self.thread_index, strict=True)
        )

    @cached_property
    def _full_row(self) -> Lanes:
        """Warps of a row by their number of lanes, ``(33,)``."""
        profile = np.zeros(WARP_SIZE + 1, np.int64)
        profile[WARP_SIZE] = self.threads // WARP_SIZE
        profile[self.threads % WARP_SIZE] += self.threads % WARP_SIZE > 0
        return profile

    def profile(self, lanes: Lanes | None) -> Lanes:
        """Return warps by their number of active lanes, ``(33,)``, without those that have none.

        ``lanes``: of any lane shape."""
        if lanes is None:
            profile, times = self._full_row, self.rows
        elif lanes.shape[1] == 1 and self.threads > 1:
            profile = self._full_row
            times = int(np.count_nonzero(lanes)) * (self.rows // len(lanes))
        else:
            profile, times = _profile(lanes), self.rows // len(lanes)
        counted: Lanes = profile * times
        return counted

    def block_of(self, row: int) -> Shape:
        """Return the block that a row belongs to."""
        return unlinear(self.first + int(self.block_rows[row, 0]), self.grid)

    def thread_of(self, row: int, column: int) -> Shape:
        """Return the ``threadIdx`` of one lane."""
        numbers = self.thread_numbers
        return unlinear(int(numbers[row if len(numbers) > 1 else 0, column]), self.block)

    def first_of(self, lanes: Lanes) -> Who:
        """Return block and thread of the first lane that is set, by the names that messages use.

        ``lanes``: of any lane shape."""
        row, column = divmod(int(np.argmax(np.broadcast_to(lanes, self.shape))), self.threads)
        return {"block": self.block_of(row), "thread": self.thread_of(row, column)}


def _profile(lanes: Lanes) -> Lanes:
    """Count warps by their number of active lanes, without those that have none."""
    rows, columns = lanes.shape
    if columns % WARP_SIZE:
        lanes = np.concatenate([lanes, np.zeros((rows, -columns % WARP_SIZE), bool)], axis=1)
    active = lanes.reshape(-1, WARP_SIZE).sum(axis=1, dtype=np.intp)
    profile = np.bincount(active, minlength=WARP_SIZE + 1).astype(np.int64, copy=False)
    profile[0] = 0
    return profile


def batch_lanes(
    grid: Shape, block: Shape, thread_index: tuple[Value, ...], first: int, rows: int
) -> LaneGroup:
    """Return the lane group of blocks ``first`` to ``first + rows`` of a launch.

    ``thread_index`` is the same for all of them."""
    threads = block[0] * block[1] * block[2]
    numbers = np.arange(rows, dtype=np.int64)[:, None]
    return LaneGroup(
        rows,
        threads,
        grid,
        block,
        first,
        thread_index,
        coordinates(numbers + first, grid),
        numbers,
        np.arange(threads, dtype=np.int64)[None, :],
    )


def coordinates(numbers: Lanes, shape: Shape) -> tuple[Value, ...]:
    """Return (x, y, z) of linear numbers; an axis that has one value only is a plain int."""
    x, y, z = numbers % shape[0], numbers // shape[0] % shape[1], numbers // (shape[0] * shape[1])
    return tuple(
        int(c.flat[0]) if n == 1 or c.size == 1 else c
        for c, n in zip((x, y, z), shape, strict=True)
    )
