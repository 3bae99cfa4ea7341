"""A block whose warps run one by one, each a coroutine, so that they can wait for one another.

A warp runs until it has made a trip of a loop that waits, or reaches a barrier of its block; then
``scheduler`` picks the next. Its lanes stay together, as everywhere here. All warps of the block
share its memory, its counters and its order; barriers are checked and counted for the whole block,
when the last warp arrives."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.masks import Mask, full, masked
from warpwise.simt.machine.barriers import Barriers, votes
from warpwise.simt.machine.batch import Batch, Launch
from warpwise.simt.machine.compaction import selection
from warpwise.simt.machine.coroutines import Coroutine
from warpwise.simt.machine.requests import Place


@dataclass(frozen=True)
class Poll:
    """The first request of a trip, which usually reads the value that the loop waits for."""

    array: object
    place: Place
    mask: Mask

    @property
    def value(self):
        """The value there now."""
        return self.array.load(self.place.offset, self.mask)


@dataclass(frozen=True)
class Wait:
    """A warp after a trip of a loop that waits.

    ``state``: as long as memory does not change, equal states lead to equal trips. ``left``: lanes
    that were in the loop, and are in it no more.
    """

    site: object
    mask: Mask
    state: tuple
    poll: Poll | None
    left: np.ndarray


@dataclass
class Arrival:
    """A warp at a barrier of its block; ``kind`` and ``agrees`` are of a barrier that votes."""

    site: object
    mask: Mask
    kind: str = ""
    agrees: object = None
    result: object = None


class Warp:
    """One warp of a resident block, and its state between turns."""

    def __init__(self, batch: ScheduledBatch, number: int):
        self.batch, self.number = batch, number
        self.mask = _mask_of(batch, number)
        #: of its life, and of its last trip to global and shared memory
        self.steps = self.requests = 0
        self.entered = 0  #: loops that may wait, so far
        self.began: dict[int, Mask] = {}  #: by line of a loop, the lanes of its last first trip
        #: the value at ``poll``, if its next trip can differ only once another one is there
        self.asleep: bytes | None = None
        self.wait: Wait | None = None
        self.arrival: Arrival | None = None
        self.poll: Poll | None = None
        self.coroutine: Coroutine | None = None

    def start(self, program, bound: tuple) -> None:
        self.coroutine = Coroutine(
            lambda: program.run(program.frame(self.batch, bound, self.mask), self.mask)
        )

    def sleep(self) -> None:
        """Sleep after a repeated trip until the one place that it read has another value."""
        if self.requests == 1 and self.poll is not None:
            self.asleep = np.asarray(self.poll.value).tobytes()

    @property
    def sleeps(self) -> bool:
        return self.asleep is not None and self.asleep == np.asarray(self.poll.value).tobytes()

    @property
    def ended(self) -> bool:
        return self.coroutine.ended

    def turn(self) -> None:
        """Go on until it waits, reaches a barrier or ends."""
        self.batch.running, self.wait, self.asleep = self, None, None
        self.batch.recorder.rows = self.batch.recorded_rows
        self.coroutine.resume()


class ScheduledBatch(Batch):
    """One block of scheduled warps.

    ``running``: the warp whose turn it is; ``changes``: the number of changes of memory."""

    def __init__(self, launch: Launch, number: int):
        super().__init__(launch, number, 1)
        self.recorded_rows, self.changes = self.recorder.rows, 0
        self.resident = [Warp(self, n) for n in range(-(-launch.threads // WARP_SIZE))]
        self.running = self.resident[0]

    # --- loops ---

    def step(self, site, mask: Mask, waits: bool = False, trip: int = 0) -> None:
        """Count a trip or a call against the budget of its warp."""
        warp = self.running
        warp.coroutine.check()
        self.steps = warp.steps
        super().step(site, mask, waits, trip)
        warp.steps = self.steps

    def wait(self, site, mask: Mask, frame, slots: tuple[int, ...], trip: int) -> None:
        warp = self.running
        if trip == 0:
            warp.entered += 1
            warp.began[site.line] = mask
        else:
            lanes = None if mask.lanes is None else mask.lanes.tobytes()
            state = (site, warp.entered, lanes, tuple(_key(frame.values[slot]) for slot in slots))
            left = warp.began[site.line].grid() & ~mask.grid()
            warp.wait = Wait(site, mask, state, warp.poll, left)
            warp.coroutine.pause()
        warp.poll, warp.requests = None, 0

    # --- barriers ---

    def barrier(self, mask: Mask, site) -> None:
        self._meet(Arrival(site, mask))

    def voting_barrier(self, kind: str, agrees, mask: Mask, site):
        return self._meet(Arrival(site, mask, kind, agrees))

    def _meet(self, arrival: Arrival):
        warp = self.running
        warp.arrival = arrival
        warp.coroutine.pause()
        return arrival.result

    @property
    def all_arrived(self) -> bool:
        return bool(self.resident) and all(warp.arrival is not None for warp in self.resident)

    def pass_barrier(self) -> None:
        """Pass the barrier at which all resident warps have arrived.

        Raises BarrierError if they are at different ones, or some threads at none."""
        site = min((warp.arrival.site for warp in self.resident), key=lambda site: site.line)
        here = [warp for warp in self.resident if warp.arrival.site is site]
        lanes, agrees = np.zeros(self.group.shape, bool), np.zeros(self.group.shape, bool)
        for warp in here:
            arrival, first = warp.arrival, warp.number * WARP_SIZE
            for whole, part in ((lanes, arrival.mask.grid()), (agrees, arrival.agrees)):
                columns = whole[:, first : first + WARP_SIZE]
                part = np.broadcast_to(part, arrival.mask.group.shape)
                columns[...] = part[:, : columns.shape[1]]
        mask = masked(self.group, lanes)
        Barriers.barrier(self, mask, site)
        kind = here[0].arrival.kind
        result = votes(kind, agrees, mask) if kind else None
        for warp in here:
            warp.arrival.result, warp.arrival = result, None

    # --- memory ---

    def request(self, array, indices: list, mask: Mask, site, kind: str) -> Place:
        place = super().request(array, indices, mask, site, kind)
        warp = self.running
        if array.space in ("global", "shared"):
            warp.requests += 1
            if warp.poll is None and kind != "store":
                warp.poll = Poll(array, place, mask)
        return place

    def store(self, array, indices: list, value, mask: Mask, site) -> None:
        offset = self.request(array, indices, mask, site, "store").offset
        before = np.asarray(array.load(offset, mask)).tobytes()
        array.store(offset, value, mask)
        self.changes += np.asarray(array.load(offset, mask)).tobytes() != before

    def carry_out(
        self, kind: str, memory: np.ndarray, cells: np.ndarray, operands: list, wanted: bool
    ):
        before = memory[cells].tobytes()
        old = super().carry_out(kind, memory, cells, operands, wanted)
        self.changes += memory[cells].tobytes() != before
        return old


def stop(warps: Iterable[Warp]) -> None:
    """End warps wherever they are; interrupts meanwhile change nothing."""
    for warp in warps:
        while warp.coroutine is not None and not warp.coroutine.gone:
            with suppress(KeyboardInterrupt):
                warp.coroutine.stop()


def _mask_of(batch: Batch, number: int) -> Mask:
    """Return all threads of a warp, as one row of 32 lanes, or as the block if that is one warp."""
    if batch.group.threads <= WARP_SIZE:
        return batch.full
    lanes = np.arange(batch.group.threads)[None, :] // WARP_SIZE == number
    return full(selection(masked(batch.group, lanes), by_block=False).inner)


def _key(value):
    """Return a value of a frame for comparison: equal only if every lane has the same bits."""
    if isinstance(value, tuple):
        return tuple(_key(item) for item in value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tobytes()
    return value if isinstance(value, (int, float, complex)) else id(value)
