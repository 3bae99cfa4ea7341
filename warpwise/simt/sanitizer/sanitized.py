"""Requests under the sanitizer: what their shadow finds becomes an error or a race of the trace."""

from __future__ import annotations

from warpwise.errors import Location, UnwrittenReadError
from warpwise.messages import Element, Name, Words, message
from warpwise.races import Access, Race
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.sanitizer.entries import Clash
from warpwise.traces import unlinear

MAX_RACES = 16
SCOPES = ("warp", "block", "grid")


class Sanitized:
    """The sanitizer's part of a batch; mixed into ``requests.Requests``."""

    def sanitized(self, array, place, mask: Mask, site, kind: str) -> None:
        """Check a request before it happens. Raises UnwrittenReadError."""
        if array.space == "shared":
            self._shared(array, place.offset, mask, site, kind)
        elif array.space == "global":
            self._global(array, place.addresses, mask, site, kind)
        elif array.space == "local" and kind != "store":
            missing = array.unwritten(place.offset, mask)
            if missing is not None:
                raise unwritten(array, site.where(**mask.group.first_of(missing)))

    @property
    def _looking(self) -> bool:
        """True if another race could still be reported."""
        return len(self.launch.races) < MAX_RACES and not self.order.clock.spent

    def _shared(self, array, offset, mask: Mask, site, kind: str) -> None:
        shadow, (first, span) = array.shadow, array.cells(offset)
        if kind != "store" and (missing := shadow.unwritten(first, mask, span)) is not None:
            thread, cell = missing
            index = element_index(array.root, cell * array.root.cell)
            view = "" if array.name == array.root.name else array.name
            raise unwritten(array.root, site.where(*self._who(thread)), index, view)
        if kind == "atomic":
            self.order.atomic(mask, array.space)
        if not self._looking:
            shadow.wrote(kind, first, mask, span)
            return
        for clash in shadow.access(kind, first, mask, site, self.order, span):
            self.note(array.root, clash, clash.cell * array.root.cell)

    def _global(self, array, addresses, mask: Mask, site, kind: str) -> None:
        if kind == "atomic":
            self.order.atomic(mask, array.space)
        root, shadow = array.root, self.launch.shadows.get(id(array.root))
        if shadow is None or not self._looking:
            return
        for clash in shadow.access(kind, addresses, array.dtype.itemsize, mask, site, self.order):
            self.note(root, clash, shadow.address + clash.cell * shadow.unit - root.address)

    def note(self, array, clash: Clash, at: int) -> None:
        """Turn a clash ``at`` some byte of an array into a Race, once for each pair of lines."""
        (first_time, _, first_kind), (second_time, _, second_kind) = clash.first, clash.second
        lines = (self.order.clock.site(time).line for time in (first_time, second_time))
        key = (array.name, *zip(lines, (first_kind, second_kind), strict=True))
        if not self._looking or key in self.launch.race_sites:
            return
        self.launch.race_sites.add(key)
        first, second = self._side(*clash.first), self._side(*clash.second)
        scope = SCOPES[max(int(self.order.distance(clash.first[1], clash.second[1])), 0)]
        index = element_index(array, at)
        self.launch.races.append(Race(array.name, array.space, index, first, second, scope))

    def _side(self, time: int, thread: int, kind: str) -> Access:
        site, writes = self.order.clock.site(time), kind != "load"
        place = site.where().place
        return Access(*self._who(thread), site.line, writes, kind == "atomic", place, site.text)

    def _who(self, thread: int) -> tuple:
        """Return block and ``threadIdx`` of a thread, given its linear number in the launch."""
        block, thread = divmod(thread, self.launch.threads)
        return unlinear(block, self.launch.grid), unlinear(thread, self.launch.block)


def unwritten(
    array, where: Location, index: tuple[int, ...] | None = None, view: str = ""
) -> UnwrittenReadError:
    """Return the error of a read where nothing was written.

    ``index``: of the element, if it is known; ``view``: what it was read through."""
    name = Name(array.name)
    element = name if index is None else Element(name, index)
    what = message(
        "{element} is read{through}, but nothing was written there: "
        "{space} memory starts with whatever was left in it",
        element=element,
        through=message(" through {view}", view=Name(view)) if view else Words(""),
        space=Words(array.space),
    )
    others = "; or did the thread that should have written it return early?"
    try_this = message(
        "should this thread read at all? Check its guard and its index. "
        "If it should, write [[{element}|that element of {array}]] first{others}",
        element=element,
        array=name,
        others=Words(others if array.space == "shared" else ""),
    )
    return UnwrittenReadError(what, where, try_this)


def element_index(array, at: int) -> tuple[int, ...]:
    """Return the indices of the element that byte ``at`` of an array lies in.

    Its strides are whole elements and not negative."""
    element, index = at // array.dtype.itemsize, [0] * array.ndim
    for axis in sorted(range(array.ndim), key=lambda axis: -array.strides[axis]):
        if array.strides[axis] and array.shape[axis] > 1:
            index[axis] = min(element // array.strides[axis], array.shape[axis] - 1)
            element -= index[axis] * array.strides[axis]
    return tuple(index)
