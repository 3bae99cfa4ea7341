"""From a program and a card to clocks: blocks on one SM, generations of them, and the last wave."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from warpwise.errors import LaunchError
from warpwise.model import occupancy
from warpwise.stopwatch import engine
from warpwise.stopwatch.cards import Card
from warpwise.stopwatch.program import Program
from warpwise.stopwatch.tables import Columns, Costs, columns
from warpwise.stopwatch.traffic import uses_of
from warpwise.stopwatch.walk import KEPT
from warpwise.traces import Trace

LAUNCH_SECONDS = 2e-6  #: of an empty kernel; assumed, as in the book's chapter on fusion
#: From a free place on an SM to the next block's first instruction. Read from gpu-stream's reads
#: with blocks of 32 threads on an A100, where nothing else decides; taken for all.
START_CLOCKS = 290.0
#: Share of the datasheet's bandwidth that DRAM gives: reads or writes alone, and mixed in halves.
#: gpu-stream on an A100, where it no longer depends on the size of the block; taken for all.
UNMIXED, MIXED = 0.96, 0.89
MOST_ISSUES = 2_000_000  #: instructions that one run of the engine simulates, roughly
GENERATIONS = 14


@dataclass(frozen=True)
class Run:
    """What the engine found: clocks of the launch, and of waiting, by instruction and reason."""

    clocks: float
    stalls: np.ndarray  #: (instructions, reasons), of the blocks that were simulated
    slots: int  #: blocks on an SM at a time
    blocks_per_sm: float
    columns: Columns
    rates: tuple[float, float]  #: clocks for a sector of L2 and of DRAM, of one SM's share


def predicted(
    trace: Trace, program: Program, card: Card, grid: tuple[int, int, int], most: int = 0
) -> Run:
    """Return the clocks of a launch on a card, with ``grid`` blocks like the recorded one.

    ``most``: blocks that an SM holds, where a launch limits them by other means than it seems."""
    threads, blocks = prod(trace.block), prod(grid)
    fits = occupancy(card.device, threads, max(1, program.registers), program.shared_bytes)
    if not fits.blocks:
        raise LaunchError(str(fits))
    slots = min(fits.blocks, most or fits.blocks)
    sms = min(card.device.sms, blocks)
    resident = min(slots, ceil(blocks / card.device.sms))
    l1_bytes = max(16_384, card.core.unified_bytes - resident * _taken(program, card))
    wave = min(blocks, slots * card.device.sms)
    costs = Costs(trace, card, uses_of(trace, grid), grid, wave, l1_bytes)
    table = columns(program.ops, program.lines, costs, card)
    rates = _rates(card, sms, _read_share(program, table))
    sm = _Sm(program, table, card, rates)
    clocks = max(_launch(sm, blocks / card.device.sms, slots), blocks / sms * _least(sm))
    return Run(clocks, np.asarray(sm.stalls), slots, blocks / sms, table, rates)


def _taken(program: Program, card: Card) -> int:
    return program.shared_bytes + card.device.sm.shared_bytes_reserved


def _rates(card: Card, sms: int, reads: float) -> tuple[float, float]:
    """Return the clocks that a sector takes of one SM's share of L2, and of DRAM.

    Few SMs have more of each; of L2 at most 64 bytes in a clock, the width of its port."""
    share = MIXED + (UNMIXED - MIXED) * abs(2 * reads - 1)
    l2 = min(64.0, card.l2_bytes_per_clock / sms)
    return 32 / l2, 32 * sms / (card.dram_bytes_per_clock * share)


def _read_share(program: Program, table: Columns) -> float:
    """Return the share of the sectors from or to DRAM that are loads."""
    moved = table.dram * program.executions
    loads = [op.access in ("load", "copy") for op in program.ops]
    total = moved.sum()
    return float(moved[np.flatnonzero(loads)].sum() / total) if total else 1.0


@dataclass
class _Sm:
    """The engine with a kernel's columns; ``stalls`` adds up."""

    program: Program
    table: Columns
    card: Card
    rates: tuple[float, float]
    stalls: np.ndarray | float = 0.0

    def ends(self, blocks: int, slots: int) -> np.ndarray:
        """Return when each of some blocks ends; long walks are extrapolated from short ones."""
        if self.program.loop is None:
            return self._run(blocks, slots, 0)
        short, longer = (self._run(blocks, slots, n) for n in KEPT)
        slope = (longer - short) / (KEPT[1] - KEPT[0])
        found: np.ndarray = short + slope * (self.program.passes - KEPT[0])
        return found

    def _run(self, blocks: int, slots: int, trips: int) -> np.ndarray:
        core = self.card.core
        streams, lengths = self.program.streams(trips)
        latency = np.array(
            [core.shared_latency, core.l1_latency, self.card.l2_latency, self.card.dram_latency]
        )
        ends, stalls, _ = engine.simulate(
            *self.table.all(), streams, lengths, self.program.kinds_of_warps, slots, blocks,
            latency, np.array(self.rates), START_CLOCKS, core.two_float_pipes,
        )  # fmt: skip
        self.stalls = self.stalls + stalls
        return ends  # type: ignore[no-any-return]

    @property
    def issues(self) -> float:
        """Instructions of a block's warps in one run."""
        _, lengths = self.program.streams(KEPT[1] if self.program.loop is not None else 0)
        return float(lengths[self.program.kinds_of_warps].sum())


def _least(sm: _Sm) -> float:
    """Return the clocks that a block at least takes of L2's or DRAM's rate.

    A short run of the engine ends with stores still on their way, which a long one waits for."""
    times = sm.program.executions
    l2 = np.maximum(sm.table.sectors, 0) * times * sm.rates[0]
    return float(max(l2.sum(), (sm.table.dram * times * sm.rates[1]).sum()))


def _launch(sm: _Sm, per_sm: float, slots: int) -> float:
    """Return the clocks of a launch with ``per_sm`` blocks for each SM, of which ``slots`` fit."""
    if per_sm <= slots:
        busiest = ceil(per_sm)
        return float(sm.ends(busiest, busiest)[-1])
    generations = int(min(GENERATIONS, max(1, MOST_ISSUES // (sm.issues * slots))))
    if per_sm <= generations * slots:
        return float(sm.ends(ceil(per_sm), slots)[-1])
    if generations < 4:
        return _waves(sm, per_sm, slots)
    ends = sm.ends(generations * slots, slots)
    first = max(1, generations // 3) * slots
    steady = (ends[-1] - ends[first - 1]) / (len(ends) - first)
    return float(ends[-1] + steady * (per_sm - len(ends)))


def _waves(sm: _Sm, per_sm: float, slots: int) -> float:
    """Return the clocks of long blocks: full waves one after another, and the last one."""
    full, rest = divmod(per_sm, slots)
    clocks = full * float(sm.ends(slots, slots)[-1])
    last = ceil(rest - 1e-9)
    return clocks + (float(sm.ends(last, last)[-1]) if last else 0.0)
