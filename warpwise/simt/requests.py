"""Loads and stores of a batch: their indices checked, counted, recorded and given to the sanitizer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.errors import OutOfBoundsError, UnwrittenReadError, Where
from warpwise.simt.counting import count_sectors, count_wavefronts
from warpwise.simt.masks import Mask
from warpwise.simt.sanitizer import Clash
from warpwise.trace import Access, Race, unlinear

MAX_RACES = 16
MAX_PLACES = 4096


@dataclass(frozen=True)
class Place:
    """Where a request goes: elements from the start of its array, and bytes."""

    offset: object
    addresses: object


class Requests:
    """The part of a batch that knows memory requests; mixed into ``batch.Batch``."""

    def load(self, array, indices: list, mask: Mask, site):
        offset = self.request(array, indices, mask, site, "load").offset
        if array.space == "shared":
            missing = array.shadow.unwritten(offset, mask)
            if missing is not None:
                raise self._unwritten_element(array, *missing, site)
            self.note(array, array.shadow.read(offset, mask, site.line))
        elif array.space == "local" and (missing := array.unwritten(offset, mask)) is not None:
            raise _unwritten(array, site.where(**mask.extent.first_of(missing)))
        return array.load(offset, mask)

    def store(self, array, indices: list, value, mask: Mask, site) -> None:
        offset = self.request(array, indices, mask, site, "store").offset
        if array.space == "shared":
            self.note(array, array.shadow.write(offset, mask, site.line))
        array.store(offset, value, mask)

    def request(self, array, indices: list, mask: Mask, site, kind: str) -> Place:
        """Check, count and record a request of one of the kinds "load", "store", "atomic"; returns where it goes."""
        key = self._place_key(array, indices, mask)
        place = self.launch.places.get(key)
        if place is None:
            offset = self._offset(array, indices, mask, site)
            place = Place(offset, array.address + offset * array.dtype.itemsize)
            if key and len(self.launch.places) < MAX_PLACES:
                self.launch.places[key] = place
        if array.space != "local":
            self._account(array, place, mask, site, kind)
        return place

    def _place_key(self, array, indices: list, mask: Mask) -> tuple | None:
        """What names a request that no block and no trip changes: indices that are ``threadIdx`` or plain integers, all lanes active."""
        if array.space != "shared" or mask.lanes is not None:
            return None
        fixed = self.launch.fixed
        for index in indices:
            if type(index) is not int and id(index) not in fixed:
                return None
        return array.address, *(index if type(index) is int else -id(index) for index in indices)

    # --- where a request goes ---

    def _offset(self, array, indices: list, mask: Mask, site):
        """Elements from the start of the array, every active lane's index checked and negative ones counted from the end."""
        offset = 0
        for axis, (index, size, stride) in enumerate(zip(indices, array.shape, array.strides, strict=True)):
            place = self._checked(array, index, size, axis, mask, site)
            offset = offset + (place if stride == 1 else place * stride)
        return offset

    def _checked(self, array, index, size: int, axis: int, mask: Mask, site):
        if not isinstance(index, np.ndarray):
            index = int(index)
            if not -size <= index < size:
                raise self._out_of_bounds(array, axis, np.array([[index]]), mask.grid(), mask, site)
            return index if index >= 0 else index + size
        if index.dtype != np.int64:
            index = index.astype(np.int64)
        if index.min() >= 0 and index.max() < size:
            return index
        bad = (index < -size) | (index >= size)
        if mask.lanes is not None:
            bad = bad & mask.lanes
        if bad.any():
            raise self._out_of_bounds(array, axis, index, bad, mask, site)
        return np.clip(np.where(index < 0, index + size, index), 0, max(size - 1, 0))

    def _out_of_bounds(self, array, axis: int, index: np.ndarray, bad: np.ndarray, mask: Mask, site) -> OutOfBoundsError:
        shape = mask.extent.shape
        bad = np.broadcast_to(bad, shape)
        value = int(np.broadcast_to(index, shape)[np.unravel_index(int(np.argmax(bad)), shape)])
        size, place = array.shape[axis], f"index {value} of axis {axis}" if array.ndim > 1 else f"index {value}"
        return OutOfBoundsError(
            f"{place} is outside {array.name}, whose size there is {size}",
            site.where(**mask.extent.first_of(bad)),
            "guard the access, or mend the index: here it must be "
            + (f"below {size} for every thread" if value >= 0 else "0 or more for every thread"),
        )

    # --- what a request counts ---

    def _account(self, array, place: Place, mask: Mask, site, kind: str) -> None:
        count = self._count_global if array.space == "global" else self._count_shared
        count(array, place, mask, site.line, kind)
        if self.recording:
            self.recorder.add(kind, site.line, mask, array=array, addresses=place.addresses)

    def _count_global(self, array, place: Place, mask: Mask, line: int, kind: str) -> None:
        array.touch(line, kind, place.offset, mask)
        width = array.dtype.itemsize
        rows, factor = _rows(place.addresses, mask)
        sectors = count_sectors(rows, mask.lanes, width) * factor
        self.counts[line].global_request(kind, mask.warps, sectors, mask.threads * width)

    def _count_shared(self, array, place: Place, mask: Mask, line: int, kind: str) -> None:
        width = array.dtype.itemsize
        rows, factor = _rows(place.addresses, mask)
        wavefronts, fewest = count_wavefronts(rows, mask.lanes, width)
        self.counts[line].shared_request(kind, mask.warps, factor * wavefronts, factor * fewest, mask.threads * width)

    # --- what the sanitizer found ---

    def note(self, array, clash: Clash | None) -> None:
        """Turn what the shadow saw into a Race, once for each pair of lines."""
        if clash is None or len(self.launch.races) >= MAX_RACES:
            return
        key = (array.name, clash.first.line, clash.second.line, clash.first.writes, clash.second.writes)
        if key in self.launch.race_sites:
            return
        self.launch.race_sites.add(key)
        first, second = (Access(unlinear(s.thread, self.launch.block), s.line, s.writes) for s in (clash.first, clash.second))
        index = element_index(array, clash.element)
        self.launch.races.append(Race(array.name, array.space, index, unlinear(self.first + clash.row, self.launch.grid), first, second))

    def _unwritten_element(self, array, row: int, thread: int, element: int, site) -> UnwrittenReadError:
        where = site.where(unlinear(self.first + row, self.launch.grid), unlinear(thread, self.launch.block))
        return _unwritten(array, where, f"[{', '.join(map(str, element_index(array, element)))}]")


def _rows(addresses, mask: Mask) -> tuple[np.ndarray, int]:
    """Addresses as ``(rows, threads)``, and for how many rows of the extent each stands: one serves all where they are alike."""
    extent = mask.extent
    rows, columns = addresses.shape if isinstance(addresses, np.ndarray) else (1, 0)
    if mask.lanes is not None:
        rows = max(rows, len(mask.lanes))
    if columns != extent.threads or len(addresses) != rows:
        addresses = np.broadcast_to(addresses, (rows, extent.threads))
    return addresses, extent.rows // rows


def _unwritten(array, where: Where, element: str = "") -> UnwrittenReadError:
    return UnwrittenReadError(
        f"{array.name}{element} is read, but nothing was written there: {array.space} memory starts with whatever was left in it",
        where,
        f"should this thread read at all? Check its guard and its index. If it should, write {array.name}{element} first",
    )


def element_index(array, element: int) -> tuple[int, ...]:
    """The indices of an element of a C-ordered array."""
    return tuple(int(i) for i in np.unravel_index(element, array.shape))
