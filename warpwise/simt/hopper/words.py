"""The words of ``warpwise.hopper`` as they run: what each does to the units of its block."""

from __future__ import annotations

from warpwise.errors import BarrierError, KernelTypeError
from warpwise.messages import Limit, Name, Size, Words, message
from warpwise.simt.hopper.block import Units, element_of, need_one_thread, need_warpgroup
from warpwise.simt.hopper.history import Waited
from warpwise.simt.hopper.layout import uniform
from warpwise.simt.hopper.mbarriers import Mbarrier
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.memory import Array
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Value

MOST_ARRIVALS = (1 << 20) - 1  # PTX ISA, "Size and alignment of mbarrier object"


def _index(value: Value, mask: Mask, site: Site) -> int:
    return uniform(value, mask, site, "the mbarrier's index")


# --- mbarriers ---


def init(units: Units, array: Array, at: Value, count: Value, mask: Mask, site: Site) -> None:
    need_one_thread(mask, site, "mbarrier_init")
    address = units.barrier_address(array, _index(at, mask, site), mask, site)
    number = uniform(count, mask, site, "the count")
    if not 1 <= number <= MOST_ARRIVALS:
        what = message(
            "an mbarrier waits for 1 to {most:,} arrivals[[, not {count}]]",
            most=Limit(MOST_ARRIVALS),
            count=Size(number),
        )
        where = site.where_first(mask)
        raise BarrierError(what, where, "the number of threads that arrive in each phase")
    maker = units.warp, int(units.clocks.now[units.warp])
    threads = units.batch.group.block_threads
    units.barriers[address] = Mbarrier(
        address, element_of(array, address), number, maker, site, threads
    )
    units.tell("mbarrier_init", mask, site)


def arrive(
    units: Units, array: Array, at: Value, size: Value, mask: Mask, site: Site, arrives: bool
) -> None:
    """``mbarrier_arrive`` (no bytes), ``expect_tx`` (no arrival) and ``arrive_expect_tx``."""
    barrier = units.mbarrier(array, _index(at, mask, site), mask, site)
    phase = barrier.address, barrier.phase
    barrier.expected += uniform(size, mask, site, "the bytes") * mask.threads
    detail = barrier.element.open()
    if not arrives:
        units.tell("mbarrier_expect_tx", mask, site, detail=detail)
        return
    units.tell("mbarrier_arrive", mask, site, arrived=phase, detail=detail)
    units.history.arrived(units.warp, phase, int(units.clocks.now[units.warp]), site)
    who, told = mask.group.first_of(mask.grid()), units.clocks.told(units.warp)
    barrier.arrive(mask.threads, told, units.ticks[units.warp], who, site)


def try_wait(units: Units, array: Array, at: Value, parity: Value, mask: Mask, site: Site) -> bool:
    """Wait until the phase of a parity is over; PTX's may give up, so a ``while`` asks again."""
    barrier = units.mbarrier(array, _index(at, mask, site), mask, site)
    phase = barrier.wanted(uniform(parity, mask, site, "the parity"), mask, site)
    barrier.need_another(phase, mask, site)
    units.wait(barrier, phase, mask, site)
    units.history.waited(units.warp, Waited(barrier.address, phase, barrier.element, site))
    end, waited = 0, None
    if phase >= 0:  # else it passes at once: nobody has used the stage before
        waited = barrier.address, phase
        known, end = barrier.done[phase]
        if known is not None:
            units.clocks.learns(units.warp, known)
        units.clocks.sees(units.warp, *waited)
    detail = barrier.element.open()
    units.tell("mbarrier_try_wait", mask, site, end, waits=True, waited=waited, detail=detail)
    return True


# --- fences and groups ---


def fence_proxy_async(units: Units, mask: Mask, site: Site) -> None:
    units.shadow.fences[units.warp] += 1
    units.tell("fence_proxy_async", mask, site)


def wgmma_fence(units: Units, mask: Mask, site: Site) -> None:
    need_warpgroup(units, mask, site, "wgmma_fence")
    units.products.fence(units.warp)
    units.tell("wgmma_fence", mask, site)


def wgmma_commit(units: Units, mask: Mask, site: Site) -> None:
    need_warpgroup(units, mask, site, "wgmma_commit_group")
    units.products.groups[units.warp].commit()
    units.tell("wgmma_commit_group", mask, site)


def wgmma_wait(units: Units, newest: int, mask: Mask, site: Site) -> None:
    need_warpgroup(units, mask, site, "wgmma_wait_group")
    _until(units, "wgmma_wait_group", units.products.wait(units.warp, newest, site), mask, site)


def store_commit(units: Units, mask: Mask, site: Site) -> None:
    units.stores.groups[units.warp].commit()
    units.tell("tma_store_commit_group", mask, site)


def store_wait(units: Units, newest: int, mask: Mask, site: Site) -> None:
    _until(units, "tma_store_wait_group", units.stores.wait(units.warp, newest, site), mask, site)


def _until(units: Units, word: str, end: int, mask: Mask, site: Site) -> None:
    units.tell(word, mask, site, end, waits=True)


# --- registers ---


def setmaxnreg(units: Units, count: int, grows: bool, mask: Mask, site: Site) -> None:
    """Give registers back, or wait until so many are free."""
    word = f"setmaxnreg_{'inc' if grows else 'dec'}"
    need_warpgroup(units, mask, site, word)
    registers, warp = units.registers, units.warp
    has = registers.each[warp]
    if (count < has) if grows else (count > has):
        what = message(
            "each thread has [[{has} registers|a number of registers]] here, and {word} cannot "
            "make them {change}",
            has=Size(has),
            word=Name(word),
            change=Words("fewer" if grows else "more"),
        )
        where = site.where_first(mask)
        raise KernelTypeError(what, where, "dec in the producers, inc in the consumers")
    units.wait_for_registers(count, mask, site)
    registers.each[warp] = count
    units.tell(word, mask, site, detail=str(count))
