"""Memory requests of a batch: checked, told to the observers, and carried out."""

from __future__ import annotations

import numpy as np

from warpwise.errors import OutOfBoundsError
from warpwise.messages import Index, Name, Size, Within, message
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.atomics import carry_out, memory_of, of_lanes, to_lanes
from warpwise.simt.machine.derived_views import part_of
from warpwise.simt.machine.launch_state import LaunchState
from warpwise.simt.machine.memory import Array, check_aligned
from warpwise.simt.machine.observer import AccessKind, Request
from warpwise.simt.machine.outside import explained
from warpwise.simt.machine.site import Site
from warpwise.simt.types import DType, Lanes, Value, as_array, clipped

MAX_PLACES = 4096


class Requests:
    """The memory requests of a batch."""

    def __init__(self, state: LaunchState):
        self.hooks, self.places, self.fixed = state.hooks, state.places, state.fixed
        self.wraps, self.kernel = state.wraps, state.launch.kernel

    def load(self, array: Array, indices: list[Value], mask: Mask, site: Site) -> Value:
        request = self.request("load", array, indices, mask, site)
        for observe in self.hooks.load:
            observe(request)
        return array.load(request.offset, mask)

    def store(
        self, array: Array, indices: list[Value], value: Value, mask: Mask, site: Site
    ) -> None:
        request = self.request("store", array, indices, mask, site)
        request.value = value
        for observe in self.hooks.store:
            observe(request)
        self.write(request, value)

    def write(self, request: Request, value: Value) -> None:
        """Carry out a store."""
        request.array.store(request.offset, value, request.mask)

    def atomic(
        self,
        kind: str,
        array: Array,
        indices: list[Value],
        operands: list[Value],
        wanted: bool,
        mask: Mask,
        site: Site,
    ) -> Value:
        """Do an atomic operation of the active lanes; return old values, or 0 if not ``wanted``."""
        request = self.request("atomic", array, indices, mask, site)
        for observe in self.hooks.atomic:
            observe(request)
        memory, cells = memory_of(array, request.addresses, mask)
        values = [of_lanes(operand, mask, array.dtype) for operand in operands]
        old = self.carry_out(kind, memory, cells, values, wanted)
        return array.dtype.type(0) if old is None or not wanted else to_lanes(old, mask)

    def carry_out(
        self, kind: str, memory: Lanes, cells: Lanes, operands: list[Lanes], wanted: bool
    ) -> Lanes | None:
        """Carry out an atomic operation: see ``atomics.carry_out``."""
        return carry_out(kind, memory, cells, operands, wanted)

    def copy(
        self,
        to: Array,
        source: Array,
        parts: list[tuple[str, DType, int]],
        mask: Mask,
        site: Site,
    ) -> None:
        """Copy a record part by part; ``parts``: see ``structured_records.leaves``."""
        for observe in self.hooks.copy:
            observe(to, source, mask, site)
        for part in parts:
            loaded = self.load(part_of(source, *part, copied=True), [], mask, site)
            self.store(part_of(to, *part, copied=True), [], loaded, mask, site)

    def request(
        self, access: AccessKind, array: Array, indices: list[Value], mask: Mask, site: Site
    ) -> Request:
        """Check a request's bounds and alignment, and return it."""
        key = self._place_key(array, indices, mask) if array.space == "shared" else None
        place = self.places.get(key) if key else None
        if place is not None:
            return Request(access, array, place[0], mask, site, place[1])
        request = Request(access, array, self.offset(array, indices, mask, site), mask, site)
        if array.alignment > 1:
            check_aligned(array, request.addresses, mask, site)
        if key and len(self.places) < MAX_PLACES:
            self.places[key] = request.offset, request.addresses
        return request

    def _place_key(self, array: Array, indices: list[Value], mask: Mask) -> tuple[int, ...] | None:
        """Return a key for a request that is the same in every block and trip, None for others.

        Its indices are ``threadIdx`` or plain integers, and all lanes are active."""
        if array.root is not array or mask.lanes is not None:
            return None
        fixed = self.fixed
        for index in indices:
            if type(index) is not int and id(index) not in fixed:
                return None
        return array.address, *(index if type(index) is int else -id(index) for index in indices)

    # --- where a request goes ---

    def offset(self, array: Array, indices: list[Value], mask: Mask, site: Site) -> Value:
        """Return elements from the start of the array, with every active lane's index checked."""
        try:
            if len(indices) == 1 and array.strides[0] == 1:
                return self.checked(array, indices[0], array.shape[0], 0, mask, site)
            offset: Value = 0
            axes = zip(indices, array.shape, array.strides, strict=True)
            for axis, (index, size, stride) in enumerate(axes):
                place = self.checked(array, index, size, axis, mask, site)
                offset = offset + (place if stride == 1 else place * stride)
            return offset
        except OutOfBoundsError as error:
            raise explained(error, array, indices, mask, site, self.kernel) from None

    def checked(
        self, array: Array, index: Value, size: Value, axis: int, mask: Mask, site: Site
    ) -> Value:
        """Return an index of one axis, checked in every active lane and counted from the start.

        ``size``: an int, or lanes of it for a view."""
        if type(size) is not int:
            return self._checked_by_lane(array, index, size, axis, mask, site)
        if type(index) is int and 0 <= index < size:
            return index
        if not isinstance(index, np.ndarray):
            index = int(index)
            if not -size <= index < size:
                raise self.out_of_bounds(
                    array, axis, np.array([[index]], object), mask.grid(), mask, site
                )
            if index >= 0:
                return index
            self.wraps.one(array, index, axis, site)
            return index + size
        if index.dtype != np.int64:
            index = index.astype(np.int64)
        outside = index.view(np.uint64) >= size  # negative ones are huge then
        if not np.count_nonzero(outside):
            return index
        if mask.lanes is not None and not np.count_nonzero(outside & mask.lanes):
            return np.where(outside, 0, index)
        bad = (index < -size) | (index >= size)
        if mask.lanes is not None:
            bad = bad & mask.lanes
        if bad.any():
            raise self.out_of_bounds(array, axis, index, bad, mask, site)
        negative = index < 0
        self.wraps.lanes(array, index, negative, axis, mask, site)
        return clipped(np.where(negative, index + size, index), 0, max(size - 1, 0))

    def _checked_by_lane(
        self, array: Array, index: Value, size: Value, axis: int, mask: Mask, site: Site
    ) -> Value:
        negative = np.less(index, 0)
        place = np.where(negative, index + size, index)
        bad = ((place < 0) | (place >= size)) & mask.grid()
        if bad.any():
            raise self.out_of_bounds(array, axis, as_array(index), bad, mask, site)
        self.wraps.lanes(array, as_array(index), np.asarray(negative), axis, mask, site)
        return clipped(place, 0, np.maximum(size - 1, 0))

    def out_of_bounds(
        self, array: Array, axis: int, index: Lanes, bad: Lanes, mask: Mask, site: Site
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
            "guard the access, or correct the index: here it must be {needed} for every thread",
            needed=Within(f"below {size}" if value >= 0 else "0 or more"),
        )
        return OutOfBoundsError(what, site.where(**mask.group.first_of(bad)), try_this)
