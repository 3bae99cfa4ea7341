"""Distinct bytes and sectors of a whole grid, from those of a few of its blocks.

What a block touches moves along with its place in the grid. If a neighbour along an axis touches a
share of other bytes than the block in the middle, so does each further one: none, where all blocks
of a row read the same; all, where none do; some, in a halo. Two blocks far from each other have to
overlap as that says. If they overlap less, the blocks count as if none shared. No array counts for
more than its size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from warpwise.metrics import DISTINCT, SECTOR_BYTES
from warpwise.simt.lanes.lane_group import Shape
from warpwise.simt.machine.extents import overlapping
from warpwise.simt.machine.memory import Memory
from warpwise.simt.observers.touched import Distinct, TouchedArray, TouchedMemory

Touched = Mapping[Memory, TouchedArray]  #: what one block touched, by the memory of arguments
LEAST_OVERLAP = 0.9  #: of far blocks, as a share of the overlap that neighbours promise


@dataclass(frozen=True)
class Footprint:
    """What some blocks touched: one in the middle, its neighbour by axis, and one far away.

    ``apart``: the blocks between the middle and the far one, by axis."""

    grid: Shape
    middle: Touched
    neighbours: Mapping[int, Touched]
    far: Touched
    apart: Shape

    def of(self, line: int | None = None) -> dict[str, int]:
        """Return the distinct counters of a line of the whole launch, or of all lines."""
        found = [part.of(line) for part in self._parts]
        return {name: sum(part.get(name, 0) for part in found) for name in DISTINCT}

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        groups = overlapping(array.elements for array in self.middle.values())
        roots = {id(array.elements): root for root, array in self.middle.items()}
        return tuple(_Part(self, tuple(roots[id(one)] for one in group)) for group in groups)


class _Part:
    """Memory that overlaps, of one or more arguments."""

    def __init__(self, footprint: Footprint, roots: tuple[Memory, ...]):
        self.whole, self.roots = footprint, roots
        extents = [footprint.middle[root].elements for root in roots]
        first, end = min(one.address for one in extents), max(one.end for one in extents)
        self.most = {
            False: end - first,
            True: (end - 1) // SECTOR_BYTES - first // SECTOR_BYTES + 1,
        }
        self.known: dict[tuple[int, ...], Distinct] = {}

    def of(self, line: int | None) -> dict[str, int]:
        own = self._distinct(self.whole.middle).of(line)
        return {name: self._scaled(line, name, count) for name, count in own.items() if count}

    def _scaled(self, line: int | None, name: str, own: int) -> int:
        """Return a distinct counter of all blocks, where the middle one has ``own``."""
        whole = self.whole
        new = {
            axis: (self._count(line, name, whole.middle, other) - own) / own
            for axis, other in whole.neighbours.items()
        }
        shared = prod(max(0.0, 1 - whole.apart[axis] * share) for axis, share in new.items())
        if shared and self._overlap(line, name, own) < LEAST_OVERLAP * shared * own:
            new = dict.fromkeys(new, 1.0)
        blocks = prod(1 + (whole.grid[axis] - 1) * share for axis, share in new.items())
        return min(self.most["sectors" in name], round(own * blocks))

    def _overlap(self, line: int | None, name: str, own: int) -> int:
        """Return what the middle and the far block both touched."""
        whole = self.whole
        far = self._count(line, name, whole.far)
        return own + far - self._count(line, name, whole.middle, whole.far)

    def _count(self, line: int | None, name: str, *blocks: Touched) -> int:
        return self._distinct(*blocks).of(line).get(name, 0)

    def _distinct(self, *blocks: Touched) -> Distinct:
        key = tuple(map(id, blocks))
        if key not in self.known:
            memories = (
                memory for root in self.roots for memory in _together(b[root] for b in blocks)
            )
            self.known[key] = Distinct(memories)
        return self.known[key]


def _together(arrays: Iterable[TouchedArray]) -> tuple[TouchedMemory, ...]:
    """Return what several blocks touched of one argument's memory."""
    first, *others = arrays
    if not others:
        return first.memories
    both = TouchedArray(first.root)
    for one in (first, *others):
        both.take(one)
    return both.memories
