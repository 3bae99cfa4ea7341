"""Elements of global arrays touched by each source line, for the distinct bytes and sectors.

Most lines touch a stretch of their array without gaps, batch after batch, and a stretch is two
numbers; only a line that leaves gaps costs a flag for each element."""

from __future__ import annotations

import numpy as np

from warpwise.metrics import SECTOR_BYTES


class Touched:
    """Elements of one array that one line touched.

    From ``low`` to before ``high``, or ``flags`` ``(elements,)``."""

    __slots__ = ("flags", "high", "low")

    def __init__(self):
        self.low = self.high = 0
        self.flags: np.ndarray | None = None

    def add(self, offsets: np.ndarray, elements: int) -> None:
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

    def as_flags(self, elements: int) -> np.ndarray:
        """Return the elements as booleans, and keep them in that form from here on."""
        if self.flags is None:
            self.flags = np.zeros(elements, bool)
            self.flags[self.low : self.high] = True
        return self.flags


def _without_gaps(offsets: np.ndarray, low: int, high: int) -> bool:
    flat = offsets.reshape(-1)
    if flat.size == high - low and flat[0] == low and flat[-1] == high - 1:
        return bool((flat[1:] - flat[:-1] == 1).all())
    if flat.size > 4 * (high - low):
        return False  # each named by many lanes: a flag for each is cheaper than looking further
    if flat.size < high - low:
        return False
    return bool((np.bincount(flat - low, minlength=high - low) > 0).all())


def overlapping(arrays: list) -> list[list]:
    """Return the arrays in groups that share memory; most are alone."""
    groups: list[list] = []
    for array in sorted(arrays, key=lambda a: a.address):
        if groups and array.address < max(a.end for a in groups[-1]):
            groups[-1].append(array)
        else:
            groups.append([array])
    return groups


def distinct(groups: list[list], wanted) -> tuple[int, int]:
    """Return the distinct bytes and sectors of accesses ``(line, kind)`` that are ``wanted``."""
    found = [_of_group(group, wanted) for group in groups]
    return sum(b for b, _ in found), sum(s for _, s in found)


def _of_group(group: list, wanted) -> tuple[int, int]:
    if len(group) > 1:
        return _of_bytes(_bytes_of(group, wanted), group[0].address)
    (array,) = group
    parts = [part for key, part in array.touched.items() if wanted(*key)]
    width = array.dtype.itemsize
    if not parts:
        return 0, 0
    if (stretch := _one_stretch(parts)) is not None:
        low, high = (array.address + width * element for element in stretch)
        return high - low, (high - 1) // SECTOR_BYTES - low // SECTOR_BYTES + 1
    flags = _union(array, parts)
    if SECTOR_BYTES % width == 0 and array.address % width == 0:
        lead = array.address % SECTOR_BYTES // width
        sectors = _groups_of(flags, SECTOR_BYTES // width, lead)
        return int(np.count_nonzero(flags)) * width, sectors
    return _of_bytes(_bytes_of(group, wanted), array.address)


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


def _union(array, parts: list[Touched]) -> np.ndarray:
    flags = np.zeros(array.flat.size, bool)
    for part in parts:
        if part.flags is None:
            flags[part.low : part.high] = True
        else:
            flags |= part.flags
    return flags


def _bytes_of(group: list, wanted) -> np.ndarray:
    """Return the touched bytes of arrays that share memory, from the first array's address on."""
    first = group[0].address
    touched = np.zeros(max(a.end for a in group) - first, bool)
    for array in group:
        parts = [part for key, part in array.touched.items() if wanted(*key)]
        at = array.address - first + array.dtype.itemsize * np.flatnonzero(_union(array, parts))
        touched[at[:, None] + np.arange(array.dtype.itemsize)] = True
    return touched


def _of_bytes(touched: np.ndarray, address: int) -> tuple[int, int]:
    return int(np.count_nonzero(touched)), _groups_of(touched, SECTOR_BYTES, address % SECTOR_BYTES)


def _groups_of(flags: np.ndarray, size: int, lead: int) -> int:
    """Return the number of groups of ``size`` elements that hold a set flag.

    The first flag is ``lead`` elements into its group."""
    padded = np.zeros(-(-(lead + flags.size) // size) * size, bool)
    padded[lead : lead + flags.size] = flags
    return int(np.count_nonzero(padded.reshape(-1, size).any(axis=1)))
