"""Memory requests of a batch: checked, counted, recorded and passed to the sanitizer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.errors import OutOfBoundsError
from warpwise.messages import Index, Name, Size, Within, message
from warpwise.simt.lanes.counting import count_sectors, count_wavefronts
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.memory import check_aligned
from warpwise.simt.sanitizer.sanitized import Sanitized

MAX_PLACES = 4096


@dataclass(frozen=True)
class Place:
    """The target of a request: elements from the start of its array, and byte addresses."""

    offset: object
    addresses: object


class Requests(Sanitized):
    """The part of a batch that makes memory requests; mixed into ``batch.Batch``."""

    def load(self, array, indices: list, mask: Mask, site):
        offset = self.request(array, indices, mask, site, "load").offset
        return array.load(offset, mask)

    def store(self, array, indices: list, value, mask: Mask, site) -> None:
        offset = self.request(array, indices, mask, site, "store").offset
        array.store(offset, value, mask)

    def request(self, array, indices: list, mask: Mask, site, kind: str) -> Place:
        """Check, count, record and sanitize a request; return its target.

        ``kind``: "load", "store" or "atomic"."""
        key = self._place_key(array, indices, mask)
        place = self.launch.places.get(key)
        if place is None:
            offset = self._offset(array, indices, mask, site)
            place = Place(offset, array.address + offset * array.step)
            if array.alignment > 1:
                check_aligned(array, place.addresses, mask, site)
            if key and len(self.launch.places) < MAX_PLACES:
                self.launch.places[key] = place
        if array.space in ("global", "shared"):
            self._account(array, place, mask, site, kind)
        if self.launch.sanitize:
            self.sanitized(array, place, mask, site, kind)
        return place

    def _place_key(self, array, indices: list, mask: Mask) -> tuple | None:
        """Return a key for a request that is the same in every block and trip, None for others.

        Its indices are ``threadIdx`` or plain integers, and all lanes are active."""
        if array.space != "shared" or array.root is not array or mask.lanes is not None:
            return None
        fixed = self.launch.fixed
        for index in indices:
            if type(index) is not int and id(index) not in fixed:
                return None
        return array.address, *(index if type(index) is int else -id(index) for index in indices)

    # --- where a request goes ---

    def _offset(self, array, indices: list, mask: Mask, site):
        """Return elements from the start of the array, with every active lane's index checked."""
        offset, axes = 0, zip(indices, array.shape, array.strides, strict=True)
        for axis, (index, size, stride) in enumerate(axes):
            place = self.checked(array, index, size, axis, mask, site)
            offset = offset + (place if stride == 1 else place * stride)
        return offset

    def checked(self, array, index, size, axis: int, mask: Mask, site):
        """Return an index of one axis, checked in every active lane and counted from the start.

        ``size``: an int, or lanes of it for a view."""
        if type(size) is not int:
            return self._checked_by_lane(array, index, size, axis, mask, site)
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

    def _checked_by_lane(self, array, index, size, axis: int, mask: Mask, site):
        place = np.where(np.less(index, 0), index + size, index)
        bad = ((place < 0) | (place >= size)) & mask.grid()
        if bad.any():
            raise self._out_of_bounds(array, axis, np.asarray(index), bad, mask, site)
        return np.clip(place, 0, np.maximum(size - 1, 0))

    def _out_of_bounds(
        self, array, axis: int, index: np.ndarray, bad: np.ndarray, mask: Mask, site
    ) -> OutOfBoundsError:
        shape = mask.group.shape
        bad = np.broadcast_to(bad, shape)
        lane = np.unravel_index(int(np.argmax(bad)), shape)
        value, size = (
            int(np.broadcast_to(part, shape)[lane]) for part in (index, array.shape[axis])
        )
        what = message(
            "{index} is outside {array}[[, whose size there is {size}]]",
            index=Index(value, axis if array.ndim > 1 else None),
            array=Name(array.name),
            size=Size(size),
        )
        try_this = message(
            "guard the access, or mend the index: here it must be {needed} for every thread",
            needed=Within(f"below {size}" if value >= 0 else "0 or more"),
        )
        return OutOfBoundsError(what, site.where(**mask.group.first_of(bad)), try_this)

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
        self.counts[line].shared_request(
            kind, mask.warps, factor * wavefronts, factor * fewest, mask.threads * width
        )


def _rows(addresses, mask: Mask) -> tuple[np.ndarray, int]:
    """Return addresses as ``(rows, threads)``, and the rows of the lane group that each stands for.

    One serves all where they are alike."""
    group = mask.group
    rows, columns = addresses.shape if isinstance(addresses, np.ndarray) else (1, 0)
    if mask.lanes is not None:
        rows = max(rows, len(mask.lanes))
    if columns != group.threads or len(addresses) != rows:
        addresses = np.broadcast_to(addresses, (rows, group.threads))
    return addresses, group.rows // rows
