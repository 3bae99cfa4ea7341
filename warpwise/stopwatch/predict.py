"""From a program and a card to clocks: blocks on one SM, generations of them, and the last wave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, prod

import numpy as np

from warpwise.errors import LaunchError
from warpwise.model import occupancy
from warpwise.stopwatch import engine
from warpwise.stopwatch.cards import Card
from warpwise.stopwatch.program import Program
from warpwise.stopwatch.resources import uses_of_sm
from warpwise.stopwatch.tables import Columns, Costs, columns
from warpwise.stopwatch.traffic import in_turn, uses_of
from warpwise.stopwatch.units import latencies_of, of_busier, rates_of
from warpwise.stopwatch.walk import KEPT
from warpwise.stopwatch.walks import Walks
from warpwise.traces import Trace

LAUNCH_SECONDS = 2e-6  #: of an empty kernel; assumed, as in the book's chapter on fusion
#: From a free place on an SM to the next block's first instruction. Read from gpu-stream's reads
#: with blocks of 32 threads on an A100, where nothing else decides; taken for all.
START_CLOCKS = 290.0
#: Of L2 for an atomic on an address that others wait for: `sum_1_atomic` on an H200, 1.78 ns for
#: each number; taken for all.
ATOMIC_CLOCKS = 3.5
ATOMICS = "atomics on one address"
MOST_ISSUES = 2_000_000  #: instructions that one run of the engine simulates, roughly
GENERATIONS, LEAST_GENERATIONS = 14, 4  #: of blocks that are run, if there are as many
NEAR_LEAST = 0.9  #: of a pipe's clocks, below which a launch cannot be so short
LOOP_OVER_REST = 3.0  #: clocks of a walk in its long loop, over the others, that are run at least


@dataclass(frozen=True)
class Run:
    """What the engine found: clocks of the launch, and of waiting, by instruction and reason."""

    clocks: float
    stalls: np.ndarray  #: (instructions, reasons), of the blocks that were simulated
    slots: int  #: blocks on an SM at a time
    blocks_per_sm: float
    columns: Columns
    rates: tuple[float, float]  #: clocks for a sector of L2 and of DRAM, of one SM's share
    model: Model  #: what ran, for runs of a changed one
    costs: Costs
    raised_by: str = ""  #: the pipe that takes clearly longer than what follows from short walks

    @property
    def atomics(self) -> float:
        """The share of the time in which L2 does atomics on one address."""
        return min(1.0, self.model.in_turn / self.clocks)


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
    costs = Costs(trace, card, uses_of(trace, grid, program.longer), grid, wave, l1_bytes)
    table = columns(program.flow, program.lines, costs, card)
    reads = _read_share(program, table)
    rates = rates_of(card, sms, reads)
    sm = Sm(program, table, card, rates, latencies_of(card, reads))
    sm = replace(sm, kept=_kept(sm, resident))
    turns = ATOMIC_CLOCKS * in_turn(trace, grid)
    model = Model(sm, blocks / card.device.sms, blocks / sms, slots, in_turn=turns)
    clocks, raised_by = model.run()
    return Run(
        clocks, np.asarray(sm.stalls), slots, blocks / sms, table, rates, model, costs, raised_by
    )


def _taken(program: Program, card: Card) -> int:
    return program.shared_bytes + card.device.sm.shared_bytes_reserved


def _read_share(program: Program, table: Columns) -> float:
    """Return the share of the sectors from or to DRAM that are loads."""
    moved = table.dram * program.executions
    loads = [op.access in ("load", "copy") for op in program.ops]
    total = moved.sum()
    return float(moved[np.flatnonzero(loads)].sum() / total) if total else 1.0


@dataclass
class Sm:
    """The engine with a kernel's columns; ``stalls`` adds up.

    ``walks``: other ones for the warps of a block than the program's."""

    program: Program
    table: Columns
    card: Card
    rates: tuple[float, float]
    latencies: tuple[float, ...]  #: as ``latencies_of`` has them, in clocks
    walks: Walks | None = None
    stalls: np.ndarray | float = 0.0
    kept: tuple[int, int] = KEPT  #: passes of the long loop in two short walks

    def ends(self, blocks: int, slots: int, average: float = 0.0) -> np.ndarray:
        """Return when each of some blocks ends; long walks are extrapolated from short ones.

        ``average``: blocks of an SM, if others have fewer: L2 and DRAM have more time for this."""
        share = average / blocks if average else 1.0
        if self.program.loop is None:
            return self.ends_of(blocks, slots, 0, share)
        few, more = self.kept
        short, longer = (self.ends_of(blocks, slots, n, share) for n in self.kept)
        found: np.ndarray = short + (longer - short) / (more - few) * (self.program.passes - few)
        return found

    def ends_of(self, blocks: int, slots: int, trips: int, share: float = 1.0) -> np.ndarray:
        """Return when each of some blocks ends, of walks with so many passes of the long loop.

        ``share``: of the clocks that a sector takes where all SMs have as many blocks."""
        streams, lengths, kinds = self._streams(trips)
        ends, stalls, _ = engine.simulate(
            *self.table.all(), streams, lengths, kinds, slots, blocks,
            np.array(self.latencies), np.array(of_busier(self.rates, share)),
            self.card.start_clocks or START_CLOCKS, self.card.core.two_float_pipes,
        )  # fmt: skip
        self.stalls = self.stalls + stalls
        return ends  # type: ignore[no-any-return]

    def _streams(self, trips: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the instructions of each kind of warp, their lengths, and each warp's kind."""
        streams, lengths = self.program.streams(trips)
        if self.walks is None:
            return streams, lengths, self.program.kinds_of_warps
        return (*self.walks.of(streams, lengths), self.walks.kinds)

    @property
    def executions(self) -> np.ndarray:
        """How often a block's warps together run each instruction."""
        return self.walks.executions(self.program) if self.walks else self.program.executions

    @property
    def issues(self) -> float:
        """Instructions of a block's warps in one run."""
        trips = self.kept[1] if self.program.loop is not None else 0
        _, lengths, kinds = self._streams(trips)
        return float(lengths[kinds].sum())


def _kept(sm: Sm, blocks: int) -> tuple[int, int]:
    """Return the passes of two walks from which a long one follows: so many that a warp spends most
    of its time in the loop, in which other things may bind than before it and after it."""
    if sm.program.loop is None:
        return KEPT
    short, longer = (float(sm.ends_of(blocks, blocks, n)[-1]) for n in KEPT)
    sm.stalls = 0.0
    each = max(1.0, (longer - short) / (KEPT[1] - KEPT[0]))
    outside = short - KEPT[0] * each
    affordable = KEPT[1] * MOST_ISSUES / (LEAST_GENERATIONS * sm.issues * blocks)
    most = min(sm.program.passes, int(affordable))
    few = max(KEPT[0], min(ceil(LOOP_OVER_REST * outside / each), most // 2))
    return few, 2 * few


@dataclass(frozen=True)
class Model:
    """A launch as the engine runs it.

    ``per_sm``: its blocks over all SMs, ``busy_sm`` over those that have any; ``slots`` of them fit
    on an SM. ``most_issues``: instructions that a run simulates, roughly."""

    sm: Sm
    per_sm: float
    busy_sm: float
    slots: int
    most_issues: int = MOST_ISSUES
    #: clocks of L2 and of DRAM that a block takes for what none of its instructions asks for
    fill: tuple[float, float] = (0.0, 0.0)
    wait: float = 0.0  #: clocks of the launch for which nothing runs, to be added
    in_turn: float = 0.0  #: clocks of L2 for the atomics of the launch on one address

    def clocks(self) -> float:
        """Run it, and return its clocks."""
        return self.run()[0]

    def run(self) -> tuple[float, str]:
        """Return the clocks of the launch, not less than any resource takes for all blocks, and the
        pipe, if it is one, that takes clearly longer than the engine says.

        A short run of the engine ends with stores still on their way, which a long one waits for;
        pipes leave it no such excuse."""
        launched = _launch(self.sm, self.per_sm, self.slots, self.most_issues)
        least = self.least()
        longest = max(least, key=least.__getitem__)
        clocks = max(launched, least[longest])
        far = longest not in ("L2", "DRAM", ATOMICS) and launched < NEAR_LEAST * clocks
        return clocks + self.wait, longest if far else ""

    def least(self) -> dict[str, float]:
        """Return the clocks that the blocks of an SM take of each resource."""
        sm = self.sm
        uses = uses_of_sm(sm.table, sm.executions, sm.rates, sm.card)
        clocks = {name: self.busy_sm * float(use.sum()) for name, use in uses.items()}
        for name, more in zip(("L2", "DRAM"), self.fill, strict=True):
            clocks[name] += self.busy_sm * more
        clocks[ATOMICS] = self.in_turn
        return clocks


def _launch(sm: Sm, per_sm: float, slots: int, most_issues: int) -> float:
    """Return the clocks of a launch with ``per_sm`` blocks for each SM, of which ``slots`` fit."""
    busiest, average = ceil(per_sm), max(1.0, per_sm)
    if per_sm <= slots:
        return float(sm.ends(busiest, busiest, average)[-1])
    generations = int(min(GENERATIONS, max(1, most_issues // (sm.issues * slots))))
    if per_sm <= generations * slots:
        return float(sm.ends(busiest, slots, average)[-1])
    if generations < LEAST_GENERATIONS:
        return _waves(sm, per_sm, slots)
    ends = sm.ends(generations * slots, slots)
    first = max(1, generations // 3) * slots
    steady = (ends[-1] - ends[first - 1]) / (len(ends) - first)
    return float(ends[-1] + steady * (per_sm - len(ends)))


def _waves(sm: Sm, per_sm: float, slots: int) -> float:
    """Return the clocks of long blocks: full waves one after another, and the last one."""
    full, rest = divmod(per_sm, slots)
    clocks = full * float(sm.ends(slots, slots)[-1])
    last = ceil(rest - 1e-9)
    return clocks + (float(sm.ends(last, last, rest)[-1]) if last else 0.0)
