"""A block whose warps run one by one, each a coroutine, so that they can wait for one another.

A warp runs until it has made a trip of a loop that waits, or reaches a barrier of its block; then
``scheduler`` picks the next. Its lanes stay together, as everywhere here. All warps of the block
share its memory; barriers are checked, and told to the observers, for the whole block, when the
last warp arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeAlias

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.masks import Mask, full, masked
from warpwise.simt.machine.barriers import Barriers, votes
from warpwise.simt.machine.batch import Batch
from warpwise.simt.machine.coroutines import Coroutine
from warpwise.simt.machine.launch_state import LaunchState
from warpwise.simt.machine.memory import Array
from warpwise.simt.machine.observer import AccessKind, Request
from warpwise.simt.machine.program import Program
from warpwise.simt.machine.requests import Requests
from warpwise.simt.machine.returned import Returned
from warpwise.simt.machine.selection import selection
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.waits import Arrival, Poll, Wait
from warpwise.simt.types import Lanes, Value, as_array

Bound: TypeAlias = tuple[Value, ...]  #: the arguments of a launch


class Warp:
    """One warp of a resident block, and its state between turns."""

    def __init__(self, batch: ScheduledBatch, number: int, program: Program, bound: Bound):
        self.batch, self.number = batch, number
        self.mask = mask = _mask_of(batch, number)
        #: of its life, and of its last trip to global and shared memory
        self.steps = self.requests = 0
        self.entered = 0  #: loops that may wait, so far
        self.began: dict[int, Mask] = {}  #: by line of a loop, the lanes of its last first trip
        #: the value at ``poll``, if its next trip can differ only once another one is there
        self.asleep: bytes | None = None
        self.ready: Callable[[], bool] | None = None  #: what ``wait_until`` waits for
        self.wait: Wait | None = None
        self.arrival: Arrival | None = None
        self.poll: Poll | None = None
        self.coroutine = Coroutine(lambda: program.run(program.frame(batch, bound, mask), mask))

    @property
    def returned(self) -> Returned:
        return self.batch.returned

    def sleep(self) -> None:
        """Sleep after a repeated trip until the one place that it read has another value."""
        if self.requests == 1 and self.poll is not None:
            self.asleep = as_array(self.poll.value).tobytes()

    @property
    def sleeps(self) -> bool:
        if self.ready is not None:
            return not self.ready()
        if self.asleep is None or self.poll is None:
            return False
        return self.asleep == as_array(self.poll.value).tobytes()

    def wait_until(self, ready: Callable[[], bool], wait: Wait) -> None:
        """Let other warps run until something holds; ``wait`` says what, for the scheduler."""
        self.ready = ready
        while not ready():
            self.wait = wait
            self.coroutine.pause()
        self.ready = None

    def turn(self) -> None:
        """Go on until it waits, reaches a barrier or ends."""
        self.batch.running, self.wait, self.asleep = self, None, None
        self.coroutine.resume()

    def trip(self, site: Site, mask: Mask, values: list[Value], number: int) -> None:
        """Begin a trip of a loop that may wait; ``values``: those that decide what it does."""
        if number == 0:
            self.entered += 1
            self.began[site.line] = mask
        else:
            lanes = None if mask.lanes is None else mask.lanes.tobytes()
            state = (site, self.entered, lanes, tuple(map(key_of, values)))
            left = self.began[site.line].grid() & ~mask.grid()
            self.wait = Wait(site, mask, state, self.poll, left)
            self.coroutine.pause()
        self.poll, self.requests = None, 0

    def requested(self, request: Request) -> None:
        """Note a request of global or shared memory."""
        self.requests += 1
        if self.poll is None and request.access != "store":
            self.poll = Poll(request)

    def meet(self, arrival: Arrival) -> Value:
        """Wait at a barrier until the whole block is there; return the result of its vote."""
        self.arrival = arrival
        self.coroutine.pause()
        return arrival.result


class CountedRequests(Requests):
    """The requests of blocks; ``changes`` counts those that changed memory."""

    changes = 0

    def write(self, request: Request, value: Value) -> None:
        there = Poll(request)
        before = as_array(there.value).tobytes()
        super().write(request, value)
        self.changes += as_array(there.value).tobytes() != before

    def carry_out(
        self, kind: str, memory: Lanes, cells: Lanes, operands: list[Lanes], wanted: bool
    ) -> Lanes | None:
        before = memory[cells].tobytes()
        old = super().carry_out(kind, memory, cells, operands, wanted)
        self.changes += memory[cells].tobytes() != before
        return old


class ScheduledRequests(CountedRequests):
    """The requests of a scheduled block."""

    def __init__(self, batch: ScheduledBatch):
        super().__init__(batch.state)
        self.batch = batch

    def request(
        self, access: AccessKind, array: Array, indices: list[Value], mask: Mask, site: Site
    ) -> Request:
        request = super().request(access, array, indices, mask, site)
        if array.space in ("global", "shared"):
            self.batch.running.requested(request)
        return request


class ScheduledBarriers(Barriers):
    """The barriers of a scheduled block: a warp that arrives waits for the others."""

    def __init__(self, batch: ScheduledBatch):
        super().__init__(batch.hooks, batch.returned, batch.state.missed, batch.state.left)
        self.batch = batch

    def block(self, mask: Mask, site: Site) -> None:
        self.batch.running.meet(Arrival(site, mask))

    def vote(self, kind: str, agrees: Value, mask: Mask, site: Site) -> Value:
        return self.batch.running.meet(Arrival(site, mask, kind, agrees))

    @property
    def all_arrived(self) -> bool:
        warps = self.batch.resident
        return bool(warps) and all(warp.arrival is not None for warp in warps)

    def complete(self) -> None:
        """Pass the barrier at which all resident warps have arrived.

        Raises BarrierError if they are at different ones, or some threads at none."""
        arrived = [(warp, warp.arrival) for warp in self.batch.resident if warp.arrival is not None]
        site = min((arrival.site for _, arrival in arrived), key=lambda site: site.line)
        here = [(warp, arrival) for warp, arrival in arrived if arrival.site is site]
        lanes, agrees = (np.zeros(self.batch.group.shape, bool) for _ in range(2))
        for warp, arrival in here:
            first = warp.number * WARP_SIZE
            for whole, part in ((lanes, arrival.mask.grid()), (agrees, arrival.agrees)):
                columns = whole[:, first : first + WARP_SIZE]
                part = np.broadcast_to(part, arrival.mask.group.shape)
                columns[...] = part[:, : columns.shape[1]]
        mask = masked(self.batch.group, lanes)
        assert mask is not None  # a warp arrives with an active lane
        super().block(mask, site)
        kind = here[0][1].kind
        result = votes(kind, agrees, mask) if kind else None
        for warp, arrival in here:
            arrival.result, warp.arrival = result, None


class ScheduledBatch(Batch):
    """One block of scheduled warps; ``running`` is the warp whose turn it is."""

    memory: ScheduledRequests
    barriers: ScheduledBarriers

    def __init__(self, state: LaunchState, number: int, program: Program, bound: Bound):
        super().__init__(state, number, 1)
        self.memory, self.barriers = ScheduledRequests(self), ScheduledBarriers(self)
        warps = range(-(-state.threads // WARP_SIZE))
        self.resident = [Warp(self, number, program, bound) for number in warps]
        self.running = self.resident[0]

    def step(self, site: Site, mask: Mask, waits: bool = False, trip: int = 0) -> None:
        """Count a trip or a call against the budget of its warp."""
        warp = self.running
        warp.coroutine.check()
        self.steps = warp.steps
        super().step(site, mask, waits, trip)
        warp.steps = self.steps

    def wait(
        self, site: Site, mask: Mask, values: list[Value], slots: tuple[int, ...], trip: int
    ) -> None:
        self.running.trip(site, mask, [values[slot] for slot in slots], trip)


def stop(warps: Iterable[Warp]) -> None:
    """End warps wherever they are; interrupts meanwhile change nothing."""
    for warp in warps:
        while not warp.coroutine.gone:
            with suppress(KeyboardInterrupt):
                warp.coroutine.stop()


def _mask_of(batch: Batch, number: int) -> Mask:
    """Return all threads of a warp, as one row of 32 lanes, or as the block if that is one warp."""
    if batch.group.threads <= WARP_SIZE:
        return batch.full
    lanes = np.arange(batch.group.threads, dtype=np.int64)[None, :] // WARP_SIZE == number
    warp = masked(batch.group, lanes)
    assert warp is not None  # each warp of a block has a thread
    return full(selection(warp, by_block=False).inner)


def key_of(value: Value) -> Value:
    """Return a value of a frame for comparison: equal only if every lane has the same bits."""
    if isinstance(value, tuple):
        return tuple(key_of(item) for item in value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tobytes()
    return value if isinstance(value, (int, float, complex)) else id(value)
