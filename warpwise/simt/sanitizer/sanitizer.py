"""The sanitizer: an observer that turns what the shadows of memory find into errors and races."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from warpwise.races import UNKNOWN, Access, Race
from warpwise.simt.frontend.called import functions_of
from warpwise.simt.frontend.index_sources import index_sources
from warpwise.simt.frontend.written import has_fence
from warpwise.simt.lanes.lane_group import LaneGroup, Shape
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.async_events import AsyncEvent
from warpwise.simt.machine.members import Members
from warpwise.simt.machine.memory import Memory, element_index
from warpwise.simt.machine.observer import AsyncCopy, Launch, Observer, Request, Scope
from warpwise.simt.machine.site import Site
from warpwise.simt.sanitizer.copy_shadow import CopyShadow
from warpwise.simt.sanitizer.entries import Clash
from warpwise.simt.sanitizer.fences import Fences
from warpwise.simt.sanitizer.global_shadow import GlobalShadow, shadows_of
from warpwise.simt.sanitizer.local_shadow import LocalShadow
from warpwise.simt.sanitizer.order import Clock, Order
from warpwise.simt.sanitizer.shared_shadow import Shadow
from warpwise.simt.sanitizer.unwritten import apart, part_written, unwritten
from warpwise.simt.types import Lanes, Value, as_array
from warpwise.traces import Function, reached_from, unlinear

MAX_RACES = 16
SCOPES = ("warp", "block", "grid")


@dataclass
class _Batch:
    """What is known of one batch: the order of its accesses, and its shared and local memory."""

    group: LaneGroup
    order: Order
    shared: dict[Memory, Shadow] = field(default_factory=dict)
    local: dict[Memory, LocalShadow] = field(default_factory=dict)
    copies: dict[Memory, CopyShadow] = field(default_factory=dict)  #: of shared memory


class Sanitizer(Observer):
    """Finds ``races``, and raises UnwrittenReadError for a read of what nobody has written."""

    launch: Launch
    functions: tuple[Function, ...]  #: device functions of the launch's kernel

    def __init__(self) -> None:
        #: by array, lines and kinds of access: the races whose effect depends on the order, and
        #: those where all threads write the same value
        self.harmful: dict[tuple[object, ...], Race] = {}
        self.same: dict[tuple[object, ...], Race] = {}
        self.clock = Clock()
        self.fences: Fences | None = None  #: of a kernel that has some
        #: of global arrays that the kernel may write
        self.shadows: dict[Memory, GlobalShadow] = {}
        self.batches: dict[int, _Batch] = {}  #: by their first block
        self.copied_on: set[Site] = set()  #: where asynchronous copies were started

    def launch_begins(self, launch: Launch) -> None:
        self.launch, self.functions = launch, functions_of(launch.kernel)
        self.shadows = shadows_of(launch.memory, launch.written)
        if has_fence(launch.kernel):
            blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]
            self.fences = Fences(blocks, launch.threads)

    def batch_begins(self, group: LaneGroup) -> None:
        self.batches[group.first] = _Batch(group, Order(self.clock, group, self.fences))

    def batch_ends(self, group: LaneGroup) -> None:
        del self.batches[group.first]

    # --- what orders accesses ---

    def barrier(self, scope: Scope, mask: Mask, site: Site) -> None:
        order = self._order(mask)
        if scope == "grid":
            order.grid_sync()
        else:
            order.barrier(mask)

    def missed(self, mask: Mask, site: Site) -> None:
        self._order(mask).missed(mask)

    def syncwarp(self, members: Members, site: Site) -> None:
        self._order(members.mask).syncwarp(members)

    def fence(self, scope: str, mask: Mask) -> None:
        self._order(mask).fence(mask, scope)

    def asynchronous(self, event: AsyncEvent) -> None:
        """Note what a word of ``hopper`` orders and writes; it looks for mistakes by itself."""
        batch = self.batches[event.mask.group.first]
        batch.order.handover(event)
        filled = event.filled
        if filled is None:
            return
        if filled.array.space == "shared":
            self._shadow(filled.array, batch).filled(filled.first, filled.size)
        else:
            batch.local.setdefault(filled.array, LocalShadow(filled.array, batch.group)).filled(
                event.mask
            )

    def _shadow(self, root: Memory, batch: _Batch) -> Shadow:
        if root not in batch.shared:
            batch.shared[root] = Shadow(root.memory_bytes, root.cell, batch.group)
        return batch.shared[root]

    def _order(self, mask: Mask) -> Order:
        return self.batches[mask.group.first].order

    # --- asynchronous copies ---

    def async_copy(self, copy: AsyncCopy) -> None:
        """Note a copy; it may write at any time from here on."""
        request = copy.request
        batch, root = self.batches[request.mask.group.first], request.array.root
        if root not in batch.copies:
            batch.copies[root] = CopyShadow(root, batch.group)
        batch.copies[root].starts(copy)
        self.copied_on.add(request.site)
        self._shared(request, batch)

    def arrival(self, copy: AsyncCopy, request: Request, site: Site) -> None:
        """Note that the copying threads have written by now."""
        batch = self.batches[request.mask.group.first]
        batch.copies[request.array.root].arrives(request)
        self._shared(request, batch)

    # --- accesses ---

    def _access(self, request: Request) -> None:
        space, batch = request.array.space, self.batches[request.mask.group.first]
        if space == "shared":
            if request.array.root in batch.copies:
                batch.copies[request.array.root].check(request, request.access)
            self._shared(request, batch)
        elif space == "global":
            self._global(request, batch.order)
        elif space == "local":
            self._local(request, batch)

    load = store = atomic = _access

    @property
    def races(self) -> tuple[Race, ...]:
        """The races, those where all threads write the same value last.

        Of the races on an array, those within a warp come last: a barrier orders all of them."""
        kinds = self.harmful.values(), self.same.values()
        found = [race for kind in kinds for race in _widest_first(kind)]
        crossed = {race.array for race in found if race.scope != "warp"}
        return tuple(replace(r, crosses=r.array in crossed) for r in found[:MAX_RACES])

    @property
    def _looking(self) -> bool:
        """True if another race could still be reported."""
        return len(self.harmful) < MAX_RACES and not self.clock.spent

    def _local(self, request: Request, batch: _Batch) -> None:
        root = request.array.root
        shadow = batch.local.get(root)
        if shadow is None:
            shadow = batch.local[root] = LocalShadow(root, batch.group)
        if request.access == "store":
            shadow.wrote(request)
            return
        missing = shadow.unwritten(request)
        if missing is not None:
            where = request.site.where(**request.mask.group.first_of(missing))
            raise unwritten(request.array, where)

    def _shared(self, request: Request, batch: _Batch) -> None:
        array, mask, site, kind = request.array, request.mask, request.site, request.access
        root, order = array.root, batch.order
        shadow = self._shadow(root, batch)
        first, span = _cells(request, shadow)
        if kind != "store" and (missing := shadow.unwritten(first, mask, span)) is not None:
            index = element_index(root, missing.cell * shadow.unit)
            view = "" if array.name == root.name else array.name
            cells = max(root.dtype.itemsize // shadow.unit, 1)
            known = missing.written[::cells]
            part = apart(known, missing.lanes // cells) or part_written(
                self.launch.kernel, root, int(known.sum())
            )
            raise unwritten(root, site.where(*self._who(missing.thread)), index, view, part)
        if kind == "atomic":
            order.atomic(mask, array.space)
        if not self._looking:
            shadow.wrote(kind, first, mask, span)
            return
        values = partial(_values, request, shadow) if kind == "store" else None
        for clash in shadow.access(kind, first, mask, site, order, span, values):
            self.note(root, clash, clash.cell * shadow.unit, order)

    def _global(self, request: Request, order: Order) -> None:
        array, mask, kind = request.array, request.mask, request.access
        if kind == "atomic":
            order.atomic(mask, array.space)
        root, shadow = array.root, self.shadows.get(array.root)
        if shadow is None or not self._looking:
            return
        width, addresses = array.dtype.itemsize, request.addresses
        values = partial(_values, request, shadow) if kind == "store" else None
        for clash in shadow.access(kind, addresses, width, mask, request.site, order, values):
            at = shadow.address + clash.cell * shadow.unit - root.address
            self.note(root, clash, at, order)

    def note(self, array: Memory, clash: Clash, at: int, order: Order) -> None:
        """Turn a clash ``at`` some byte of an array into a Race, once for each pair of lines.

        One where threads write different values takes the place of one where they do not, and one
        between two warps that of one within a warp: what orders it orders both."""
        (first_time, _, first_kind), (second_time, _, second_kind) = clash.first, clash.second
        lines = (self.clock.site(time).line for time in (first_time, second_time))
        key = (array.name, *zip(lines, (first_kind, second_kind), strict=True))
        scope = SCOPES[max(int(order.distance(clash.first[1], clash.second[1])), 0)]
        known = self.harmful.get(key) or (self.same.get(key) if clash.same else None)
        if known is not None:
            wider = known.scope == "warp" != scope and known.same == clash.same
        else:
            wider = not clash.same or len(self.same) < MAX_RACES
        if not self._looking or not wider:
            return
        first, second = self._side(*clash.first), self._side(*clash.second)
        index = element_index(array, at)
        race = Race(
            array.name, array.space, index, first, second, scope, clash.same, axes=self.axes
        )
        if clash.same:
            self.same[key] = race
        else:
            self.harmful[key] = race
            self.same.pop(key, None)

    @property
    def axes(self) -> int:
        """The dimensions of the launch: those in which it has more than one thread."""
        lengths = zip(self.launch.grid, self.launch.block, strict=True)
        return max([i for i, (n, m) in enumerate(lengths, 1) if n * m > 1], default=1)

    def _side(self, time: int, thread: int, kind: str) -> Access:
        site = self.clock.site(time)
        reached = reached_from(site.line, self.functions)
        return Access(
            *self._who(thread),
            site.line,
            kind != "load",
            kind == "atomic",
            site.where().place,
            site.text,
            site.elsewhere,
            () if reached == (site.line,) else reached,
            index_sources(self.launch.kernel, site.line) if kind == "store" else UNKNOWN,
            kind == "store" and site in self.copied_on,
        )

    def _who(self, thread: int) -> tuple[Shape, Shape]:
        """Return block and ``threadIdx`` of a thread, given its linear number in the launch."""
        block, thread = divmod(thread, self.launch.threads)
        return unlinear(block, self.launch.grid), unlinear(thread, self.launch.block)


def _widest_first(races: Iterable[Race]) -> list[Race]:
    """Sort races by array, in their order, and those of one by whether they are within a warp."""
    races = tuple(races)
    arrays = list(dict.fromkeys(race.array for race in races))
    return sorted(races, key=lambda race: (arrays.index(race.array), race.scope == "warp"))


def _values(request: Request, shadow: Shadow | GlobalShadow) -> tuple[Lanes, Lanes]:
    """Return what the active lanes of a store write, and what was there: see ``entries.Values``."""
    array, mask = request.array, request.mask
    span = max(array.dtype.itemsize // shadow.unit, 1)
    written, there = (
        np.broadcast_to(as_array(value), mask.group.shape)[mask.grid()]
        for value in (request.value, array.load(request.offset, mask))
    )
    if array.dtype.kind == "V" and array.root.dtype.itemsize == shadow.unit:
        return written.view(array.root.dtype)[None], there.view(array.root.dtype)[None]
    return np.repeat(written, span)[None], np.repeat(there, span)[None]


def _cells(request: Request, shadow: Shadow) -> tuple[Value, int]:
    """Return the first cell of each element that is accessed, and how many cells it covers."""
    array = request.array
    if array.cell % shadow.unit:
        shadow.split(array.cell)
    width, unit = array.dtype.itemsize, shadow.unit
    if array.root is array and width == unit:
        return request.offset, 1
    return (request.addresses - array.root.address) // unit, max(width // unit, 1)
