"""A block's asynchronous units: what the words of ``hopper`` work on.

They are made at the first such word of a block, and watch its accesses from there on. A block that
has one runs warp by warp, see ``machine.scheduler``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.errors import BarrierError, EndlessError, UnsupportedError, WarpMaskError
from warpwise.messages import Count, Element, Message, Name, Size, Words, message
from warpwise.metrics import WARP_SIZE
from warpwise.model.swizzle import CHUNK
from warpwise.simt.hopper.history import History
from warpwise.simt.hopper.mbarriers import Mbarrier
from warpwise.simt.hopper.order import Clocks
from warpwise.simt.hopper.products import Products
from warpwise.simt.hopper.registers import Registers
from warpwise.simt.hopper.shadow import Shadow, Use
from warpwise.simt.hopper.stores import Stores
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.async_events import AsyncEvent, Box, Filled, Phase
from warpwise.simt.machine.batch import Batch
from warpwise.simt.machine.memory import Array, element_index
from warpwise.simt.machine.observer import AsyncCopy, Observer, Request, Scope
from warpwise.simt.machine.scheduled_batch import ScheduledBatch
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.waits import Wait
from warpwise.simt.types import Lanes, as_array

_MAKE = "hopper.mbarrier_init(bars, index, count) in one thread, then cuda.syncthreads()"
_ONE = "let one thread do it: if cuda.threadIdx.x == 0, or the first thread of the producer's warp"


@dataclass(frozen=True)
class Waiting:
    """A warp that waits for the phase of an mbarrier."""

    barrier: Mbarrier
    mask: Mask
    site: Site

    def told(self, warp: int) -> Message:
        return message(
            "; warp {warp} waits for {barrier} on {line}: {missing}",
            warp=Size(warp),
            barrier=self.barrier.element,
            line=Words(self.site.there),
            missing=self.barrier.missing(),
        )


class Units(Observer):
    """The mbarriers, copies, products and registers of one block, and its warps' ticks."""

    def __init__(self, batch: ScheduledBatch):
        self.batch, warps = batch, len(batch.resident)
        self.clocks, self.ticks = Clocks(warps), [0] * warps
        size = batch.state.device.sm.shared_bytes_per_block
        self.history = History()
        self.shadow = Shadow(self.clocks, self.history, warps, size)
        self.barriers: dict[int, Mbarrier] = {}
        self.products = Products(warps, self.shadow)
        self.stores = Stores(warps, self.shadow)
        self.registers = Registers(warps, batch.state.device)
        self.waiting: dict[int, Waiting] = {}  #: by warp, in the order in which they began

    @property
    def warp(self) -> int:
        """The number of the warp that runs."""
        return self.batch.running.number

    # --- what threads do meanwhile ---

    def load(self, request: Request) -> None:
        if request.array.space == "local":
            self.products.need_ended(self.use(request, "read"), request.array.root)
        elif request.array.space == "shared":
            self.shadow.loaded(self.use(request, "read"), _chunks(request))

    def store(self, request: Request) -> None:
        if request.array.space == "local":
            root = request.array.root
            self.products.need_ended(self.use(request, "written"), root)
            self.products.written(self.warp, root)
        elif request.array.space == "shared":
            self.shadow.stored(self.use(request, "written"), _chunks(request))

    def async_copy(self, copy: AsyncCopy) -> None:
        """Note a ``cp_async16``: until its wait, no copy and no product may use what it writes."""
        use = self.use(copy.request, "written")
        self.shadow.stored(use, _chunks(copy.request), under_way=True)

    def arrival(self, copy: AsyncCopy, request: Request, site: Site) -> None:
        self.store(request)

    def use(self, request: Request, words: str) -> Use:
        name = request.array.root.name
        return Use(self.warp, request.mask, request.site, name, words)

    def barrier(self, scope: Scope, mask: Mask, site: Site) -> None:
        self.clocks.meet()
        self.ticks = [max(self.ticks) + 1] * len(self.ticks)

    def batch_ends(self, group: LaneGroup) -> None:
        self.products.need_all_ended(group)
        self.stores.need_all_ended(group)

    # --- what words need ---

    def tell(
        self,
        word: str,
        mask: Mask,
        site: Site,
        end: int = 0,
        *,
        waits: bool = False,
        arrived: Phase | None = None,
        waited: Phase | None = None,
        filled: Filled | None = None,
        counted: Phase | None = None,
        detail: str = "",
        moved: Box | None = None,
        flops: int = 0,
        operands: tuple[Lanes, Lanes] | None = None,
    ) -> None:
        """Tell the observers of a word, and let the warp's ticks go on.

        ``end``: the word's tick, if it is not the next; ``waits``: the warp goes on only then."""
        begin = self.ticks[self.warp]
        event = AsyncEvent(
            word,
            self.warp,
            mask,
            site,
            begin,
            max(end, begin + 1),
            arrived,
            waited,
            filled,
            detail,
            counted,
            moved,
            flops,
            operands,
        )
        for observe in self.batch.hooks.asynchronous:
            observe(event)
        self.ticks[self.warp] = event.end if waits else begin + 1

    def mbarrier(self, array: Array, index: int, mask: Mask, site: Site) -> Mbarrier:
        """Return an mbarrier that the running warp knows to be made, or raise BarrierError."""
        address = self.barrier_address(array, index, mask, site)
        found, where = self.barriers.get(address), site.where_first(mask)
        if found is None:
            what = message(
                "{barrier} is used, and no mbarrier_init has made it",
                barrier=element_of(array, address),
            )
            raise BarrierError(what, where, _MAKE)
        if not self.clocks.knows(self.warp, *found.maker):
            what = message(
                "{barrier} is used here, and nothing orders its mbarrier_init on {line} before",
                barrier=found.element,
                line=Words(found.site.there),
            )
            raise BarrierError(what, where, _MAKE)
        return found

    def barrier_address(self, array: Array, index: int, mask: Mask, site: Site) -> int:
        place = self.batch.memory.checked(array, index, array.shape[0], 0, mask, site)
        return int(as_array(array.address).flat[0]) + int(place) * array.step * array.strides[0]

    def wait(self, barrier: Mbarrier, phase: int, mask: Mask, site: Site) -> None:
        """Let other warps run until a phase is over."""
        state = (site, barrier.address, phase)
        left = np.zeros(mask.group.shape, bool)

        self.waiting[self.warp] = Waiting(barrier, mask, site)
        self.batch.running.wait_until(
            lambda: barrier.phase > phase, Wait(site, mask, state, None, left, self.stuck)
        )
        del self.waiting[self.warp]

    def wait_for_registers(self, count: int, mask: Mask, site: Site) -> None:
        """Let other warps run until so many registers for each thread of this one are free."""
        warp, registers = self.warp, self.registers
        left = np.zeros(mask.group.shape, bool)

        def error() -> EndlessError:
            return registers.stuck(warp, count, mask, site)

        state = (site, "registers", count)
        self.batch.running.wait_until(
            lambda: registers.fits(warp, count), Wait(site, mask, state, None, left, error)
        )

    def stuck(self) -> EndlessError:
        """Return the error of mbarriers that all wait for: of one that has begun, if there is."""
        waits = list(self.waiting.values())
        lead = next((one for one in waits if one.barrier.begun), waits[0])
        seen, others = {lead.barrier.address}, []
        for warp, one in self.waiting.items():
            if one.barrier.address not in seen:
                seen.add(one.barrier.address)
                others.append(one.told(warp))
        return lead.barrier.stuck(lead.mask, lead.site, others, self._waits_for_itself(lead))

    def _waits_for_itself(self, one: Waiting) -> bool:
        """Return True if threads wait for others of their own warp, as only other warps should."""
        warp = next(w for w, waits in self.waiting.items() if waits is one)
        others = self.history.waiters[one.barrier.address] - {warp}
        alone = self.history.arrivers(one.barrier.address) == {warp}
        return one.mask.threads < WARP_SIZE and alone and bool(others)


def element_of(array: Array, address: int) -> Element:
    root = array.root
    return Element(Name(root.name), element_index(root, address - root.address))


def units_of(batch: Batch, site: Site) -> Units:
    """Return the units of the block that runs. Raises UnsupportedError where it cannot wait."""
    if not isinstance(batch, ScheduledBatch):
        what = "this Python has no threads, as in a browser, and warps of this kernel take turns"
        raise UnsupportedError(what, site.where(), "run it where Python has threads: JupyterLab")
    found = batch.units.get(Units)
    if found is None:
        found = batch.units[Units] = Units(batch)
        batch.watched_by(found)
    assert isinstance(found, Units)
    return found


def need_one_thread(mask: Mask, site: Site, word: str) -> None:
    """Raise BarrierError if several threads do what one has to do for all."""
    if mask.threads == 1:
        return
    what = message(
        "{threads} {word}: it is done once for each of them",
        threads=Count(mask.threads, "thread", "calls", "call"),
        word=Name(word),
    )
    raise BarrierError(what, site.where_first(mask), _ONE)


def need_warpgroup(units: Units, mask: Mask, site: Site, word: str) -> None:
    """Raise WarpMaskError unless whole warps call a word, of a whole warpgroup.

    That each of its four warps comes here is checked by their number of products."""
    threads, first = mask.group.block_threads, units.warp // 4 * 4 * WARP_SIZE
    if mask.threads == WARP_SIZE and threads >= first + 4 * WARP_SIZE:
        return
    what = message(
        "{word} is for all 128 threads of a warpgroup, four warps from a multiple of four on"
        "[[; here are {threads} of a warp, in a block of {block}]]",
        word=Name(word),
        threads=Size(mask.threads),
        block=Size(threads),
    )
    where = site.where_first(mask)
    raise WarpMaskError(what, where, "branch by warpgroup: if cuda.threadIdx.x // 128 == 0")


def _chunks(request: Request) -> Lanes:
    mask, width = request.mask, request.array.dtype.itemsize
    first = np.broadcast_to(as_array(request.addresses), mask.group.shape)[mask.grid()]
    found = np.concatenate([first // CHUNK, (first + width - 1) // CHUNK])
    return np.unique(found)
