"""The events of a launch, on one page: what an observer can watch.

The machine runs lanes and tells its observers what happens; counters, recorder and sanitizer are
observers too, and ``trace(..., observers=[...])`` takes further ones. Each event is told before its
effect, and after its checks: an access that would leave its array, or a barrier that not all
threads reach, ends the launch untold. Observers are told in their order: counters, recorder,
sanitizer, then the caller's. A hook that an observer does not override is never called for it.

What varies with the lane is *lane-shaped*: a Python number where all lanes agree, else an array
``(1, threads)``, ``(rows, 1)`` or ``(rows, threads)`` over the lane group ``mask.group``, whose
rows are blocks of the batch, or single warps where a loop goes on with few of them.
``np.broadcast_to(value, mask.group.shape)`` gives each lane its own, and ``mask.grid()`` says which
lanes are active. Which thread a lane is, say ``mask.group.block_of(row)`` and ``thread_of(row,
column)``, or ``mask.group.numbers``, its linear number in the launch.

Several batches can be on the way at once, if blocks wait for one another; ``mask.group.first``,
the linear number of a batch's first block, tells them apart. Left out: time, and the values that
are read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, TypeAlias

from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.written import written_parameters
from warpwise.simt.lanes.counting import Work
from warpwise.simt.lanes.lane_group import LaneGroup, Shape
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.array_views import arrays_of
from warpwise.simt.machine.async_events import AsyncEvent
from warpwise.simt.machine.members import Members
from warpwise.simt.machine.memory import Array, GlobalArray
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.tensor import Product
from warpwise.simt.types import Lanes, Value

AccessKind: TypeAlias = Literal["load", "store", "atomic"]
Scope: TypeAlias = Literal["block", "grid"]


@dataclass(frozen=True)
class Launch:
    """A launch as it was asked for: ``kernel[grid, block](*arguments)``.

    ``arguments``: numbers, arrays and tuples of these, as the kernel sees them. ``captured``:
    device arrays from outside the kernel that it names."""

    kernel: Kernel
    grid: Shape  #: blocks, by axis
    block: Shape  #: threads of a block, by axis
    arguments: tuple[Value, ...]
    dynamic_bytes: int = 0  #: of shared memory, asked for at the launch
    captured: tuple[Value, ...] = ()

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @cached_property
    def memory(self) -> tuple[GlobalArray, ...]:
        """The memory behind each array among the arguments, and behind those captured."""
        return _memory((*self.arguments, *self.captured))

    @cached_property
    def written(self) -> tuple[GlobalArray, ...]:
        """The memory that the kernel may write."""
        names = written_parameters(self.kernel)
        named = zip(self.kernel.parameters, self.arguments, strict=True)
        passed = tuple(value for name, value in named if name in names)
        return _memory((*passed, *self.captured))


def _memory(arguments: tuple[Value, ...]) -> tuple[GlobalArray, ...]:
    roots = (array.root for array in arrays_of(arguments))
    return tuple(root for root in roots if isinstance(root, GlobalArray))


@dataclass(slots=True, eq=False)  # not frozen, as one is made for every request
class Request:
    """A request of memory: one element for each active lane."""

    access: AccessKind  #: "load", "store" or "atomic"
    array: Array  #: ``array.space`` says which memory it lies in: global, shared, local or const
    offset: Value  #: steps of ``array.step`` bytes from the start of the array, lane-shaped
    mask: Mask  #: the active lanes
    site: Site  #: where in the text: ``site.line``
    _addresses: Value = None
    value: Value = None  #: what a store writes, lane-shaped

    @property
    def addresses(self) -> Value:
        """Bytes, lane-shaped; from the start of a block's shared memory, or of the local array."""
        if self._addresses is None:
            self._addresses = self.array.address + self.offset * self.array.step
        return self._addresses


@dataclass(slots=True, eq=False)
class AsyncCopy:
    """The copies to shared memory that some lanes started at one line; lane-shaped in full."""

    request: Request  #: what is written in the end, with the 16 bytes of each lane as its value
    groups: Lanes  #: the number of the group that each lane's copy is in, from 0
    on_the_way: Lanes  #: the lanes whose copy has not arrived
    committed_by: Lanes  #: the groups that threads have committed by now, by place in the batch
    #: the last wait that let it go on: its number, and the groups that threads had committed then
    waited: tuple[int, Site, Lanes] | None = None

    def committed(self, row: int, column: int) -> int:
        """Return how many groups a lane has committed by now."""
        return int(self.committed_by[self.request.mask.group.places[row, column]])

    def committed_before_wait(self, row: int, column: int) -> int:
        """Return how many groups a lane had committed before the last wait; 0 without one."""
        if self.waited is None:
            return 0
        return int(self.waited[2][self.request.mask.group.places[row, column]])


class Observer:
    """Watches a launch. Override the hooks of the events that matter; each of these does nothing.

    An observer has state of its own. An exception that a hook raises ends the launch."""

    def launch_begins(self, launch: Launch) -> None:
        """Watch a launch begin, its limits checked and its arguments bound."""

    def batch_begins(self, group: LaneGroup) -> None:
        """Watch blocks begin that run together: ``group.first`` and as many as ``group.rows``."""

    def issue(self, work: Work, mask: Mask) -> None:
        """Watch the active lanes issue a piece of work of a line, of ``work.slots`` instructions.

        Called before what the line does to memory, and for each of its pieces: the head of a loop
        and its body are two."""

    def load(self, request: Request) -> None:
        """Watch a load from memory of any space; ``request.access`` is "load"."""

    def store(self, request: Request) -> None:
        """Watch a store, before memory changes; ``request.access`` is "store"."""

    def atomic(self, request: Request) -> None:
        """Watch an atomic operation, before memory changes; ``request.access`` is "atomic"."""

    def copy(self, to: Array, source: Array, mask: Mask, site: Site) -> None:
        """Watch a copy of one whole record for each active lane: ``a[i] = b[j]``.

        Called before the loads and stores of the record's fields, which are told as well."""

    def async_copy(self, copy: AsyncCopy) -> None:
        """Watch lanes start to copy 16 bytes each from global to shared memory.

        ``copy.request`` says where they will be written; the read of global memory came before, as
        a load."""

    def arrival(self, copy: AsyncCopy, request: Request, site: Site) -> None:
        """Watch a wait, at ``site``, by which some lanes know that their copies have arrived.

        ``request``: what is written now. Called before shared memory changes."""

    def mma(self, product: Product) -> None:
        """Watch warps multiply small matrices on tensor cores, all their lanes together."""

    def branch(self, line: int, mask: Mask, taken: Mask | None, left: Mask | None) -> None:
        """Watch lanes reach a branch, or the test of a loop.

        ``taken``: those that go the first way, or on in the loop; ``left``: the others; None means
        no lanes. Called before the lanes go either way."""

    def barrier(self, scope: Scope, mask: Mask, site: Site) -> None:
        """Watch a barrier that all its threads have reached, before they go on.

        ``scope``: "block", where those threads of each block of ``mask`` meet that have not
        returned, or "grid"."""

    def missed(self, mask: Mask, site: Site) -> None:
        """Watch threads that are elsewhere when their block passes a barrier; called before it.

        They pass no barrier any more: see ``barriers``."""

    def syncwarp(self, members: Members, site: Site) -> None:
        """Watch ``syncwarp``: the active lanes of a warp that name the same mask meet.

        ``members.named``: that mask, lane-shaped; ``members.mask``: the active lanes."""

    def fence(self, scope: str, mask: Mask) -> None:
        """Watch a memory fence of the active lanes; ``scope`` is "block", "grid" or "system"."""

    def asynchronous(self, event: AsyncEvent) -> None:
        """Watch a word of ``warpwise.hopper``: an arrival, a wait, a copy or a product."""

    def leave(self, mask: Mask) -> None:
        """Watch threads return from the kernel by ``return``.

        It is not called for those that reach its end."""

    def batch_ends(self, group: LaneGroup) -> None:
        """Watch the end of a batch; its shared and local arrays are used no more."""

    def launch_ends(self) -> None:
        """Watch the end of a launch that ran without an error."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks to call, by event: those that observers have overridden, in their order."""

    launch_begins: tuple[Callable[[Launch], None], ...]
    batch_begins: tuple[Callable[[LaneGroup], None], ...]
    issue: tuple[Callable[[Work, Mask], None], ...]
    load: tuple[Callable[[Request], None], ...]
    store: tuple[Callable[[Request], None], ...]
    atomic: tuple[Callable[[Request], None], ...]
    copy: tuple[Callable[[Array, Array, Mask, Site], None], ...]
    async_copy: tuple[Callable[[AsyncCopy], None], ...]
    arrival: tuple[Callable[[AsyncCopy, Request, Site], None], ...]
    mma: tuple[Callable[[Product], None], ...]
    branch: tuple[Callable[[int, Mask, Mask | None, Mask | None], None], ...]
    barrier: tuple[Callable[[Scope, Mask, Site], None], ...]
    missed: tuple[Callable[[Mask, Site], None], ...]
    syncwarp: tuple[Callable[[Members, Site], None], ...]
    fence: tuple[Callable[[str, Mask], None], ...]
    asynchronous: tuple[Callable[[AsyncEvent], None], ...]
    leave: tuple[Callable[[Mask], None], ...]
    batch_ends: tuple[Callable[[LaneGroup], None], ...]
    launch_ends: tuple[Callable[[], None], ...]


EVENTS = tuple(field.name for field in fields(Hooks))


def hooks_of(observers: Iterable[Observer]) -> Hooks:
    """Return the hooks that these observers override."""
    hooks: dict[str, list[Callable[..., None]]] = {event: [] for event in EVENTS}
    for observer in observers:
        for event in EVENTS:
            if getattr(type(observer), event) is not getattr(Observer, event):
                hooks[event].append(getattr(observer, event))
    return Hooks(*map(tuple, hooks.values()))
