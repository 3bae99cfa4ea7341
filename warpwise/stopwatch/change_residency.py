"""Changes to what an SM holds and how long it waits: occupancy, blocks, loads in flight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import ceil, prod

import numpy as np

from warpwise.metrics import SECTOR_BYTES
from warpwise.model import Occupancy, occupancy
from warpwise.model.arguments import quantity
from warpwise.stopwatch import engine
from warpwise.stopwatch.case import Case, Change
from warpwise.stopwatch.dataflow import most_live
from warpwise.stopwatch.estimate import NEAR
from warpwise.stopwatch.walks import Walks, plain
from warpwise.traces import KINDS

LEAST_REGISTERS = 24  #: of a thread, fewer of which nobody can ask a compiler for
SAMPLES = 64  #: records of a line's loads that are looked at
FEW_WAVES = 4  #: waves of blocks up to which the size of a block decides how full the last one is


def more_resident(case: Case) -> Iterator[Change]:
    """Yield twice the blocks on an SM where registers, shared memory or their number limit them."""
    model, fits = case.run.model, _fits(case, prod(case.trace.block))
    slots = model.slots
    if slots < fits.blocks or model.per_sm <= slots:
        return
    more = min(2 * slots, fits.blocks_by_warps, ceil(model.per_sm))
    words = _to_fit(case, fits, more) if more > slots else ""
    if words:
        how = "keep fewer values at a time, or smaller tiles" if "instead" in words else ""
        yield Change(words, (), replace(case.with_sm(), slots=more), how)


def _fits(case: Case, threads: int) -> Occupancy:
    program = case.program
    return occupancy(case.card.device, threads, max(1, program.registers), program.shared_bytes)


def _to_fit(case: Case, fits: Occupancy, more: int) -> str:
    """Return what a block may take at most so that so many fit, "" if that is too little."""
    sm, program = case.card.device.sm, case.program
    words = []
    if fits.blocks_by_blocks < more:
        threads = prod(case.trace.block)
        return f"blocks of {quantity(2 * threads, 'thread')} instead of {threads}, for an SM " \
               f"holds {sm.blocks} blocks at most"  # fmt: skip
    if fits.blocks_by_registers < more:
        registers = _registers(case, more)
        if registers < max(LEAST_REGISTERS, most_live(program.flow)):
            return ""
        words.append(f"{registers} registers a thread instead of {program.registers}")
    if fits.blocks_by_shared_memory < more:
        unit = sm.shared_bytes_unit
        most = sm.shared_bytes // more // unit * unit - sm.shared_bytes_reserved
        words.append(f"{most / 1024:.3g} KB of shared memory a block "
                     f"instead of {program.shared_bytes / 1024:.3g}")  # fmt: skip
    fit = f"{quantity(more, 'block')} fit on an SM instead of {fits.blocks}"
    return f"{' and '.join(words)}, so that {fit}" if words else ""


def _registers(case: Case, blocks: int) -> int:
    """Return the most registers of a thread with which so many blocks fit."""
    threads, device = prod(case.trace.block), case.card.device
    options = range(case.program.registers, 0, -1)
    return next(
        (n for n in options if occupancy(device, threads, n).blocks_by_registers >= blocks), 0
    )


def smaller_blocks(case: Case) -> Iterator[Change]:
    """Yield blocks of fewer threads where there are too few for all SMs, or for full waves.

    Only where a block's threads have nothing in common."""
    model, program, sms = case.run.model, case.program, case.card.device.sms
    threads, warps = prod(case.trace.block), len(program.kinds_of_warps)
    alone = not program.shared_bytes and not any(op.pipe == "barrier" for op in case.ops)
    if not alone or warps < 2 or model.per_sm > FEW_WAVES * model.slots:
        return
    blocks = round(model.per_sm * sms)
    parts = 1
    while warps % (2 * parts) == 0 and (2 * parts <= warps) and blocks * parts < sms * 8:
        parts *= 2
    if parts < 2:
        return
    kinds = np.arange(len(program.trips))
    walks = Walks(kinds, plain(program).shares, program.kinds_of_warps[: warps // parts])
    busy_sms = min(sms, blocks * parts)
    old = min(sms, blocks)
    l2, dram = case.run.rates
    rates = (max(0.5, l2 * busy_sms / old), dram * busy_sms / old)
    slots = _fits(case, threads // parts).blocks
    changed = case.with_sm(walks=walks, rates=rates)
    made = replace(
        changed, per_sm=model.per_sm * parts, busy_sm=blocks * parts / busy_sms, slots=slots
    )
    reach = f"all {sms} SMs have work" if blocks < sms else "the last blocks end together"
    words = (
        f"blocks of {quantity(threads // parts, 'thread')} instead of {threads}, so that {reach}"
    )
    yield Change(words, (), made)


def in_flight(case: Case) -> Iterator[Change]:
    """Yield half the latency that warps wait for, as with two independent chains in a thread."""
    if max(case.busy.values(), default=0.0) >= NEAR or not case.waits:
        return
    cause = max(case.waits, key=case.waits.__getitem__)
    shared, *others = case.run.model.sm.latencies
    stalls = case.run.stalls
    if cause == "long scoreboard":
        weights = stalls[:, engine.LONG]
        l1, *beyond = others
        beyond = beyond if _along_rows(case, weights) else [n / 2 for n in beyond]
        latencies = (shared, l1 / 2, *beyond)
        words = "twice as many independent loads of each thread in flight"
        how = "load two elements before either is used"
        model = case.with_sm(latencies=latencies)
        yield Change(words, case.lines(_folded(case, weights)), model, how)
    elif cause == "wait":
        halved = case.table.latencies / np.where(case.table.kind <= engine.FP64, 2, 1)
        weights = stalls[:, engine.WAIT]
        words = "two independent chains of arithmetic in each thread"
        how = "add into two variables in turn, and their sum at the end"
        model = case.changed(latencies=halved)
        yield Change(words, case.lines(_folded(case, weights)), model, how)


def _along_rows(case: Case, weights: np.ndarray) -> bool:
    """Return whether warps wait most where a thread's next load is in the sector of the one before:
    two loads together wait for that sector as long as one."""
    by_line: dict[int, float] = defaultdict(float)
    for line, weight in zip(case.program.lines, _folded(case, weights).tolist(), strict=True):
        by_line[line] += weight
    along = sum(weight for line, weight in by_line.items() if weight and _goes_along(case, line))
    return along > sum(by_line.values()) / 2


def _goes_along(case: Case, line: int) -> bool:
    """Return whether most loads of a line from global memory are less than a sector on."""
    r = case.trace.records
    loads = (r.line == line) & (r.kind == KINDS.index("load"))
    near = every = 0
    for number, info in enumerate(case.trace.arrays):
        if info.space == "global":
            addresses = r.addresses[np.flatnonzero(loads & (r.array == number))[:SAMPLES]]
            active = (addresses[1:] >= 0) & (addresses[:-1] >= 0)
            steps = np.abs(np.diff(addresses, axis=0)[active])
            near, every = near + int((steps < SECTOR_BYTES).sum()), every + len(steps)
    return near > every / 2


def _folded(case: Case, weights: np.ndarray) -> np.ndarray:
    n = len(case.ops)
    return np.asarray(weights[:n] + weights[n:])
