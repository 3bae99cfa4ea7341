"""Launches of which only some blocks run: which ones, if they are alike, and what all would count.

Blocks count alike in the middle of most grids, and less or more at edges. So a few run: one in the
middle, its neighbour along each axis, the first and the last of the grid. If the first or the last
differs from the middle, the first or last of each axis are kinds of their own, and two blocks of
each kind run, far apart. Counters add up kind by kind. Blocks of one kind that differ by more than
ALIKE are refused, as in work on triangles or with lists of different lengths.

Left out: edges wider than a block, and what a block does because of what others wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from warpwise.errors import LaunchError, TraceError
from warpwise.metrics import DISTINCT, FIELDS, Metrics
from warpwise.samples import Sample
from warpwise.simt.lanes.lane_group import LaneGroup, Shape
from warpwise.simt.machine.memory import Memory
from warpwise.simt.machine.observer import Launch
from warpwise.simt.observers.counters import Counters
from warpwise.simt.observers.footprint import Footprint
from warpwise.simt.observers.touched import TouchedArray
from warpwise.traces import linear, unlinear

ALIKE = 0.05  #: the largest difference in a counter of blocks that stand for others
GOLDEN = 0.618034  #: multiples of it, less their whole parts, are spread evenly
ADDITIVE = tuple(name for name in FIELDS if name not in DISTINCT)
ByLine = Mapping[int, Metrics]


class ByBlock(Counters):
    """Counts each block by itself, if each is a batch of its own.

    ``kept``: the blocks of which it keeps what they touched."""

    def __init__(self, kept: Iterable[int]) -> None:
        super().__init__()
        self.kept, self.blocks = frozenset(kept), dict[int, ByLine]()
        self.footprints: dict[int, dict[Memory, TouchedArray]] = {}

    def launch_begins(self, launch: Launch) -> None:
        self.launch = launch

    def batch_begins(self, group: LaneGroup) -> None:
        self.counts.clear()
        self.tallies.clear()
        super().launch_begins(self.launch)

    def batch_ends(self, group: LaneGroup) -> None:
        super().launch_ends()
        counts = sorted(self.counts.items())
        self.blocks[group.first] = {line: of_line.metrics() for line, of_line in counts}
        if group.first in self.kept:
            self.footprints[group.first] = self.touched

    def launch_ends(self) -> None:
        """Each block has ended by itself."""


@dataclass(frozen=True)
class Kind:
    """Blocks that should count alike: a range of places along each axis."""

    places: tuple[range, range, range]

    @property
    def count(self) -> int:
        return prod(map(len, self.places))

    def holds(self, block: Shape) -> bool:
        return all(n in places for n, places in zip(block, self.places, strict=True))

    @property
    def samples(self) -> tuple[Shape, Shape]:
        """Two blocks far from each other, where there are two."""
        return self._at(1), self._at(3)

    def _at(self, quarters: int) -> Shape:
        x, y, z = (p[(quarters * (len(p) - 1) + quarters // 2) // 4] for p in self.places)
        return x, y, z


class Sampler:
    """Chooses the blocks of a launch that run, as it sees what they count."""

    def __init__(self, grid: Shape, wanted: int, recorded: Sequence[int] | None):
        self.grid = grid
        x, y, z = ((n - 1) // 2 for n in grid)
        self.middle: Shape = (x, y, z)
        steps = {axis: n for axis, n in enumerate(grid) if n > 1}
        self.neighbours = {axis: self._next(axis) for axis in steps}
        self.first, self.last = 0, prod(grid) - 1
        some = [self._number(self.middle), *self.neighbours.values(), self.first, self.last]
        self.recorded = tuple(some[:1] if recorded is None else recorded)
        spread = (int(prod(grid) * (GOLDEN * (i + 1) % 1)) for i in range(wanted - len(set(some))))
        self.least = tuple(dict.fromkeys((*some, *self._within(self.recorded), *spread)))
        self.counters = ByBlock(some)

    def _next(self, axis: int) -> int:
        x, y, z = (n + (i == axis) for i, n in enumerate(self.middle))
        return self._number((x, y, z))

    def _number(self, block: Shape) -> int:
        return linear(block, self.grid)

    def _within(self, blocks: Iterable[int]) -> Iterator[int]:
        return (block for block in blocks if 0 <= block <= self.last)

    def blocks(self) -> Iterator[int]:
        """Yield the blocks that have to run, one after the other."""
        yield from self.least
        if len(self.kinds) > 1:
            for kind in self.kinds:
                for block in map(self._number, kind.samples):
                    if block not in self.counters.blocks:
                        yield block

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of blocks: one, or those of edges that count otherwise than the middle."""
        counted = self.counters.blocks
        middle = counted[self._number(self.middle)]
        first, last = counted[self.first] != middle, counted[self.last] != middle
        x, y, z = (_parts(n, first, last) for n in self.grid)
        return tuple(map(Kind, product(x, y, z)))

    def counted(self) -> tuple[Metrics, dict[int, Metrics], Sample]:
        """Return the counters of the grid, those of its lines, and what they stand on.

        Raises TraceError if blocks differ that should be alike."""
        counted, groups = self.counters.blocks, self._groups()
        spread = max(self._spread(group) for _, group in groups)
        lines = sorted({line for of_block in counted.values() for line in of_block})
        footprint = self._footprint()
        by_line = {
            line: _scaled(
                [(count, [counted[b].get(line, NOTHING) for b in group]) for count, group in groups]
            )
            for line in lines
        }
        total = sum(by_line.values(), NOTHING)
        whole = {line: _with(m, footprint.of(line)) for line, m in by_line.items()}
        sample = Sample(tuple(counted), prod(self.grid), len(groups), spread)
        return _with(total, footprint.of()), whole, sample

    def _groups(self) -> list[tuple[int, list[int]]]:
        """Return for each kind of blocks how many there are, and those that ran."""
        ran = {block: unlinear(block, self.grid) for block in self.counters.blocks}
        return [
            (kind.count, [block for block, place in ran.items() if kind.holds(place)])
            for kind in self.kinds
        ]

    def _spread(self, group: list[int]) -> float:
        """Return by how much blocks of a kind differ. Raises TraceError if they do by too much."""
        one, *others = group
        counted = self.counters.blocks
        found = [(*_difference(counted[one], counted[b]), b) for b in others]
        worst = max(found, default=(0.0, 0, "", one))
        if worst[0] <= ALIKE:
            return worst[0]
        share, line, name, other = worst
        places = " and ".join(str(unlinear(b, self.grid)) for b in (one, other))
        raise TraceError(
            f"blocks {places} differ: on line {line}, {name} by {100 * share:.0f} % of what a "
            "block counts, so a few blocks cannot stand for all; leave out blocks_traced"
        )

    def _footprint(self) -> Footprint:
        touched = self.counters.footprints
        near = {axis: touched[block] for axis, block in self.neighbours.items()}
        middle = touched[self._number(self.middle)]
        return Footprint(self.grid, middle, near, touched[self.first], self.middle)


NOTHING = Metrics()


def sampler_for(
    grid: Shape, wanted: object, recorded: Sequence[int] | None, whole: bool
) -> Sampler | None:
    """Return what chooses blocks, None if all have to run: because nobody asked, or of so few.

    ``whole``: whether the kernel needs all its blocks. Raises LaunchError if that cannot be."""
    if wanted is None:
        return None
    if type(wanted) is not int or wanted < 1:
        raise LaunchError(f"blocks_traced is a positive integer, not {wanted!r}")
    if whole:
        raise LaunchError(
            "this kernel's blocks wait for one another, so all have to run: leave out blocks_traced"
        )
    sampler = Sampler(grid, wanted, recorded)
    return sampler if len(sampler.least) < prod(grid) else None


def _parts(size: int, first: bool, last: bool) -> tuple[range, ...]:
    """Cut an axis: its first place, the middle, its last one, as far as these are apart."""
    low, high = int(first and size > 1), size - int(last and size > 1)
    parts = range(low), range(low, high), range(high, size)
    return tuple(part for part in parts if part)


def _difference(one: ByLine, other: ByLine) -> tuple[float, int, str]:
    """Return by how much two blocks differ at most, and the line and the counter that do."""
    totals = sum(one.values(), NOTHING), sum(other.values(), NOTHING)
    worst = (0.0, 0, "")
    for line in one.keys() | other.keys():
        mine, others = (vars(m.get(line, NOTHING)) for m in (one, other))
        for name in ADDITIVE:
            if mine[name] != others[name]:
                most = max(_size(vars(total)[name]) for total in totals)
                worst = max(worst, (_apart(mine[name], others[name]) / most, line, name))
    return worst


def _size(counted: int | tuple[int, ...]) -> int:
    return sum(counted) if isinstance(counted, tuple) else counted


def _apart(one: Any, other: Any) -> float:
    """Return by how much two counters differ, which are numbers, or tuples of them."""
    if isinstance(one, tuple):
        return float(sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2)
    return float(abs(one - other))


def _scaled(groups: Sequence[tuple[int, Sequence[Metrics]]]) -> Metrics:
    """Return the sum over kinds of blocks of their number times what one counts on average."""
    parts = [
        _each(ms, lambda *ns, count=count: round(count * sum(ns) / len(ns))) for count, ms in groups
    ]
    return sum(parts, NOTHING)


def _each(metrics: Sequence[Metrics], of: Callable[..., int]) -> Metrics:
    """Return metrics whose counters are made of those of others, without the distinct ones."""
    columns = {name: [vars(m)[name] for m in metrics] for name in ADDITIVE}
    made = {
        name: tuple(of(*ns) for ns in zip(*column, strict=True))
        if isinstance(column[0], tuple)
        else of(*column)
        for name, column in columns.items()
    }
    return Metrics.of(made)


def _with(metrics: Metrics, distinct: Mapping[str, int]) -> Metrics:
    return Metrics.of(vars(metrics) | dict(distinct))
