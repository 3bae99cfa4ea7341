"""Elements of global arrays touched by each source line, for the distinct bytes and sectors.

Most lines touch a stretch of their array without gaps, batch after batch, and a stretch is two
numbers; only a line that leaves gaps costs a flag for each element."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from warpwise.metrics import SECTOR_BYTES
from warpwise.simt.machine.extents import overlapping
from warpwise.simt.machine.memory import GlobalArray, chosen
from warpwise.simt.machine.observer import Request
from warpwise.simt.types import Lanes, Value, as_array, as_index

Accesses = tuple[str, ...]  #: some of "load", "store" and "atomic"


class Touched:
    """Elements of one array that one line touched.

    From ``low`` to before ``high``, or ``flags`` ``(elements,)``."""

    __slots__ = ("flags", "high", "low")

    def __init__(self) -> None:
        self.low = self.high = 0
        self.flags: Lanes | None = None

    def add(self, offsets: Lanes, elements: int) -> None:
        """Add ``offsets``, of any shape, at least one; ``elements``: of the array."""
        if self.flags is None:
            low, high = int(offsets.min()), int(offsets.max()) + 1
            if self.low <= low and high <= self.high:
                return
            meets = self.low == self.high or (low <= self.high and self.low <= high)
            if meets and _without_gaps(offsets, low, high):
                self.low = min(self.low, low) if self.high else low
                self.high = max(self.high, high)
                return
        self.as_flags(elements)[offsets] = True

    def take(self, other: Touched, elements: int) -> None:
        """Add what another one touched of the same array."""
        if other.flags is not None:
            self.as_flags(elements)[other.flags] = True
        elif self.flags is None and self.high == 0:
            self.low, self.high = other.low, other.high
        elif self.flags is None and other.low <= self.high and self.low <= other.high:
            self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        else:
            self.as_flags(elements)[other.low : other.high] = True

    def as_flags(self, elements: int) -> Lanes:
        """Return the elements as booleans, and keep them in that form from here on."""
        if self.flags is None:
            self.flags = np.zeros(elements, bool)
            self.flags[self.low : self.high] = True
        return self.flags


def _without_gaps(offsets: Lanes, low: int, high: int) -> bool:
    flat = offsets.reshape(-1)
    if flat.size == high - low and flat[0] == low and flat[-1] == high - 1:
        return bool((flat[1:] - flat[:-1] == 1).all())
    if flat.size > 4 * (high - low):
        return False  # each named by many lanes: a flag for each is cheaper than looking further
    if flat.size < high - low:
        return False
    return bool((np.bincount(as_index(flat - low), minlength=high - low) > 0).all())


class TouchedMemory:
    """A stretch of memory as elements of ``width`` bytes, and those that each line touched."""

    def __init__(self, address: int, width: int, elements: int):
        self.address, self.width, self.elements = address, width, elements
        self.end = address + width * elements
        #: no element lies across two sectors
        self.within_sectors = SECTOR_BYTES % width == 0 and address % width == 0
        self.touched: dict[tuple[int, str], Touched] = {}  #: by line and kind of access

    def touch(self, request: Request, places: Value, span: int = 1) -> None:
        """Remember the elements at some places, lane-shaped, ``span`` from each on."""
        lanes = request.mask.lanes
        if lanes is not None and isinstance(places, np.ndarray):
            places = chosen(places, lanes, places.shape)
        places = as_array(places)
        if span > 1:
            places = places[..., None] + np.arange(span, dtype=np.int64)
        self.add(request.site.line, request.access, places)

    def add(self, line: int, access: str, places: Lanes) -> None:
        """Remember the elements at some places, of any shape, at least one."""
        touched = self.touched.get((line, access))
        if touched is None:
            touched = self.touched[line, access] = Touched()
        touched.add(places, self.elements)

    def take(self, other: TouchedMemory) -> None:
        """Add what another block touched of the same memory."""
        for key, touched in other.touched.items():
            self.touched.setdefault(key, Touched()).take(touched, self.elements)

    def parts(self, line: int | None, accesses: Accesses) -> list[Touched]:
        """Return what some accesses of one line touched, or of all lines."""
        touched = self.touched
        if line is None:
            return [part for (_, access), part in touched.items() if access in accesses]
        return [touched[line, access] for access in accesses if (line, access) in touched]


class TouchedArray:
    """The memory of an argument by its elements, and by smaller parts once one was named."""

    def __init__(self, root: GlobalArray):
        self.root = root
        self.elements = TouchedMemory(root.address, root.step, root.flat.size)
        self.parts: dict[int, TouchedMemory] = {}  #: by their bytes

    @property
    def memories(self) -> tuple[TouchedMemory, ...]:
        return self.elements, *self.parts.values()

    def touch(self, request: Request) -> None:
        array = request.array
        places = array.place(request.offset, request.mask)
        if array.is_whole:
            self.elements.touch(request, places)
            return
        width = array.dtype.itemsize
        part = math.gcd(self.root.cell, width)
        if part == self.root.step:
            self.elements.touch(request, places // part, width // part)
            return
        for first in range(0, width, part):
            self._in_parts(part).touch(request, (places + first) // part)

    def take(self, other: TouchedArray) -> None:
        """Add what another block touched of the same array."""
        self.elements.take(other.elements)
        for part, memory in other.parts.items():
            self._in_parts(part).take(memory)

    def _in_parts(self, part: int) -> TouchedMemory:
        """Return the memory by parts of so many bytes."""
        if part not in self.parts:
            count = self.root.memory_bytes // part
            self.parts[part] = TouchedMemory(self.root.address, part, count)
        return self.parts[part]


class Distinct:
    """Counts the distinct bytes and sectors that accesses touched."""

    def __init__(self, memories: Iterable[TouchedMemory]):
        self.groups = overlapping(memories)
        #: what each line, and None, which stands for all, did to global memory
        self.accesses: dict[int | None, set[str]] = defaultdict(set)
        for line, access in (key for group in self.groups for one in group for key in one.touched):
            self.accesses[line].add(access)
            self.accesses[None].add(access)

    def of(self, line: int | None = None) -> dict[str, int]:
        """Return the distinct counters of one line, or of all; none without accesses."""
        here = self.accesses.get(line)
        if here is None:
            return {}
        found: dict[Accesses, tuple[int, int]] = {}

        def counted(*accesses: str) -> tuple[int, int]:
            made = tuple(access for access in accesses if access in here)
            if made not in found:
                found[made] = self._counted(line, made)
            return found[made]

        return {
            "global_bytes_distinct": counted("load", "store", "atomic")[0],
            "global_load_sectors_distinct": counted("load", "atomic")[1],
            "global_store_sectors_distinct": counted("store", "atomic")[1],
        }

    def _counted(self, line: int | None, accesses: Accesses) -> tuple[int, int]:
        """Return distinct bytes and sectors."""
        found = [_of_group(group, line, accesses) for group in self.groups]
        return sum(b for b, _ in found), sum(s for _, s in found)


def _of_group(group: list[TouchedMemory], line: int | None, accesses: Accesses) -> tuple[int, int]:
    if len(group) > 1:
        return _of_bytes(_bytes_of(group, line, accesses), group[0].address)
    (memory,) = group
    parts, width = memory.parts(line, accesses), memory.width
    if not parts:
        return 0, 0
    if (stretch := _one_stretch(parts)) is not None:
        low, high = (memory.address + width * element for element in stretch)
        return high - low, (high - 1) // SECTOR_BYTES - low // SECTOR_BYTES + 1
    flags = _union(memory, parts)
    if memory.within_sectors:
        lead = memory.address % SECTOR_BYTES // width
        sectors = _groups_of(flags, SECTOR_BYTES // width, lead)
        return int(np.count_nonzero(flags)) * width, sectors
    return _of_bytes(_bytes_of(group, line, accesses), memory.address)


def _one_stretch(parts: list[Touched]) -> tuple[int, int] | None:
    """Return the first element, and the one after the last, if there are no gaps between parts."""
    if any(part.flags is not None for part in parts):
        return None
    stretches = sorted((part.low, part.high) for part in parts)
    first, end = stretches[0]
    for low, high in stretches[1:]:
        if low > end:
            return None
        end = max(end, high)
    return first, end


def _union(memory: TouchedMemory, parts: list[Touched]) -> Lanes:
    flags = np.zeros(memory.elements, bool)
    for part in parts:
        if part.flags is None:
            flags[part.low : part.high] = True
        else:
            flags |= part.flags
    return flags


def _bytes_of(group: list[TouchedMemory], line: int | None, accesses: Accesses) -> Lanes:
    """Return the touched bytes of memories that overlap, from the first one's address on."""
    first = group[0].address
    touched = np.zeros(max(memory.end for memory in group) - first, bool)
    for memory in group:
        parts = memory.parts(line, accesses)
        at = memory.address - first + memory.width * np.flatnonzero(_union(memory, parts))
        touched[at[:, None] + np.arange(memory.width, dtype=np.int64)] = True
    return touched


def _of_bytes(touched: Lanes, address: int) -> tuple[int, int]:
    return int(np.count_nonzero(touched)), _groups_of(touched, SECTOR_BYTES, address % SECTOR_BYTES)


def _groups_of(flags: Lanes, size: int, lead: int) -> int:
    """Return the number of groups of ``size`` elements that hold a set flag.

    The first flag is ``lead`` elements into its group."""
    padded = np.zeros(-(-(lead + flags.size) // size) * size, bool)
    padded[lead : lead + flags.size] = flags
    if size in (2, 4, 8):  # one number is looked at faster than so many flags
        return int(np.count_nonzero(padded.view(f"uint{8 * size}")))
    return int(np.count_nonzero(padded.reshape(-1, size).any(axis=1)))
