"""A block whose warps run one by one, each a coroutine: so a warp can wait for another, and for other blocks.

A warp runs until it has made a trip of a loop that waits, or meets a barrier of its block; see ``waiting_warps`` for who comes next. Its
lanes stay together, as everywhere here. All warps of the block share its memory, its counters and its order; barriers are checked and
counted for the whole block, when the last warp arrives.
"""

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
    """A request of a trip: the first one, which most often reads what the loop waits for."""

    array: object
    place: Place
    mask: Mask

    @property
    def value(self):
        """What is there now."""
        return self.array.load(self.place.offset, self.mask)


@dataclass(frozen=True)
class Wait:
    """A warp after a trip of a loop that waits. ``state``: as long as memory stays as it is, equal states lead to equal trips.

    ``left``: lanes that were in the loop, and are in it no more.
    """

    site: object
    mask: Mask
    state: tuple
    poll: Poll | None
    left: np.ndarray


@dataclass
class Arrival:
    """A warp at a barrier of its block; ``kind`` and ``agrees`` of one that votes."""

    site: object
    mask: Mask
    kind: str = ""
    agrees: object = None
    result: object = None


class Warp:
    """One warp of a block in flight, and where it is between its turns."""

    def __init__(self, batch: WaitingBatch, number: int):
        self.batch, self.number = batch, number
        self.mask = _mask_of(batch, number)
        self.steps = self.requests = 0  #: of its life, and of its last trip to global and shared memory
        self.entered = 0  #: loops that may wait, so far
        self.began: dict[int, Mask] = {}  #: by line, with which lanes the last time
        self.asleep: bytes | None = None  #: the value at ``poll``, if only another one can change what its next trip does
        self.wait: Wait | None = None
        self.arrival: Arrival | None = None
        self.poll: Poll | None = None
        self.coroutine: Coroutine | None = None

    def start(self, program, bound: tuple) -> None:
        self.coroutine = Coroutine(lambda: program.run(program.frame(self.batch, bound, self.mask), self.mask))

    def sleep(self) -> None:
        """It has just made the same trip once more. If that read one place only, it need not run until something else is there."""
        if self.requests == 1 and self.poll is not None:
            self.asleep = np.asarray(self.poll.value).tobytes()

    @property
    def sleeps(self) -> bool:
        return self.asleep is not None and self.asleep == np.asarray(self.poll.value).tobytes()

    @property
    def ended(self) -> bool:
        return self.coroutine.ended

    def turn(self) -> None:
        """Go on until it waits, meets a barrier or ends."""
        self.batch.running, self.wait, self.asleep = self, None, None
        self.batch.recorder.rows = self.batch.recorded_rows
        self.coroutine.resume()


class WaitingBatch(Batch):
    """One block. ``running``: its warp whose turn it is; ``changes``: how often memory has changed."""

    def __init__(self, launch: Launch, number: int):
        super().__init__(launch, number, 1)
        self.recorded_rows, self.changes = self.recorder.rows, 0
        self.in_flight = [Warp(self, n) for n in range(-(-launch.threads // WARP_SIZE))]
        self.running = self.in_flight[0]

    # --- loops ---

    def step(self, site, mask: Mask, waits: bool = False, trip: int = 0) -> None:
        """The budget is that of a warp."""
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
            warp.wait = Wait(site, mask, state, warp.poll, warp.began[site.line].grid() & ~mask.grid())
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
        return bool(self.in_flight) and all(warp.arrival is not None for warp in self.in_flight)

    def pass_barrier(self) -> None:
        """All warps in flight have arrived. Raises BarrierError if they are at different barriers, or some threads at none."""
        site = min((warp.arrival.site for warp in self.in_flight), key=lambda site: site.line)
        here = [warp for warp in self.in_flight if warp.arrival.site is site]
        lanes, agrees = np.zeros(self.extent.shape, bool), np.zeros(self.extent.shape, bool)
        for warp in here:
            arrival, first = warp.arrival, warp.number * WARP_SIZE
            for whole, part in ((lanes, arrival.mask.grid()), (agrees, arrival.agrees)):
                columns = whole[:, first : first + WARP_SIZE]
                columns[...] = np.broadcast_to(part, arrival.mask.extent.shape)[:, : columns.shape[1]]
        mask = masked(self.extent, lanes)
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

    def carry_out(self, kind: str, memory: np.ndarray, cells: np.ndarray, operands: list, wanted: bool):
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
    """All threads of a warp; its extent is one row of 32 lanes, or the block where that is one warp."""
    if batch.extent.threads <= WARP_SIZE:
        return batch.full
    lanes = np.arange(batch.extent.threads)[None, :] // WARP_SIZE == number
    return full(selection(masked(batch.extent, lanes), by_block=False).inner)


def _key(value):
    """A value of a frame as something to compare: equal only if every lane has the same bits."""
    if isinstance(value, tuple):
        return tuple(_key(item) for item in value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tobytes()
    return value if isinstance(value, (int, float, complex)) else id(value)
