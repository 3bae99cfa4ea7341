"""How often a warp runs each block of the machine code: the cheapest way that explains its counts.

The counts are the trace's (``evidence``), the ways those of ``flow``. Among all walks from entry to
end the one is taken whose work on each line differs least from what the trace counted, and among
these the one of fewest instructions, as a compiler's unrolled loop runs instead of its remainder.
That is a linear program in whole numbers, which SciPy's HiGHS solves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warpwise.stopwatch.evidence import NEAR, Channel, Counts, units_of
from warpwise.stopwatch.flow import ENTRY, Flow

NODES = 2000  #: of the solver's search; the best found by then is taken
PARTED = 0.02  #: price of a way that only parted lanes take, in shares of one channel
#: Weight of a channel: barriers are certain; arithmetic is what a compiler changes most.
WEIGHTS = {"barrier": 2.0, "flops fp32": 0.5, "flops fp64": 0.5}
#: Of a loop for each time that it is entered; more would drown in the solver's tolerance.
MOST_TRIPS = 1e5
EXACT = 1e-3  #: of a channel's work, which is whole
NONE_COUNTED = 10.0  #: price of an access on a line that counted none, in instructions

Guarded = tuple[int, str]  #: a block, and the predicate of some of its instructions


@dataclass(frozen=True)
class Trips:
    """How often a warp takes each edge, and runs guarded accesses that are not always run.

    ``missed``: the share of each channel's work that the walk does too much or too little."""

    edges: tuple[int, ...]  #: in the order of Flow.edges
    guarded: Mapping[Guarded, int]
    missed: Mapping[Channel, float]

    @property
    def worst(self) -> float:
        """The largest share that is missed, 0 if all counts are explained."""
        return max(self.missed.values(), default=0.0)


@dataclass(frozen=True)
class _Work:
    """The work of each channel in one pass through a block, or through its guarded accesses."""

    blocks: Mapping[Channel, Mapping[int, float]]
    guarded: Mapping[Channel, Mapping[Guarded, float]]


def work_of(flow: Flow, lines: Sequence[int]) -> _Work:
    """Add up the work of the blocks by channel. Lines with divisions or roots have no flops here,
    for these are sequences of operations of their own."""
    blocks: dict[Channel, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    guarded: dict[Channel, dict[Guarded, float]] = defaultdict(lambda: defaultdict(float))
    special = {line for op, line in zip(flow.ops, lines, strict=True) if op.name in _SEQUENCES}
    for n, block in enumerate(flow.blocks):
        for i in block:
            kind, amount = units_of(flow.ops[i])
            if not kind or not lines[i] or (kind.startswith("flops") and lines[i] in special):
                continue
            channel, guard = (lines[i], kind), flow.guards[i]
            if guard:
                guarded[channel][n, guard] += amount
            else:
                blocks[channel][n] += amount
    return _Work(blocks, guarded)


_SEQUENCES = {"MUFU", "CALL", "FCHK", "F2F"}


def trips_of(flow: Flow, work: _Work, counts: Counts, between: Counts | None = None) -> Trips:
    """Return the walk's edges that explain a warp's counts best.

    ``between``: the most of them between two barriers, which no loop without one can exceed."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    program = _Program(flow, work, counts, between or {})
    solved = milp(
        program.prices(),
        constraints=[LinearConstraint(*program.rules())],
        integrality=program.whole(),
        bounds=Bounds(0, program.most()),
        options={"node_limit": NODES, "mip_rel_gap": 1e-6},
    )
    values = solved.x if solved.x is not None else program.straight()
    return program.read(values)


def _with_none(work: _Work, counts: Counts) -> Counts:
    """Return the counts, with 0 for accesses on a traced line that no warp made."""
    lines = {line for line, _ in counts}
    found = {*work.blocks, *work.guarded}
    none = {c for c in found if c[0] in lines and not c[1].startswith("flops")}
    return dict.fromkeys(none, 0.0) | dict(counts)


class _Program:
    """The columns and rows of the linear program: edges, guarded accesses, what is missed."""

    def __init__(self, flow: Flow, work: _Work, counts: Counts, between: Counts):
        self.flow, self.work, self.counts = flow, work, _with_none(work, counts)
        self.between = between
        self.channels = sorted(c for c in self.counts if c in work.blocks or c in work.guarded)
        self.guards = sorted({g for c in self.channels for g in work.guarded.get(c, ())})
        self.edges = len(flow.edges)
        self.size = self.edges + len(self.guards) + 2 * len(self.channels)
        self.most_counted = 1 + max(self.counts.values(), default=1.0)
        self.entering = defaultdict(list)
        self.leaving = defaultdict(list)
        for e, edge in enumerate(flow.edges):
            self.entering[edge.end].append(e)
            self.leaving[edge.start].append(e)

    def prices(self) -> np.ndarray:
        """Return what each column costs: missed work most, then parted ways, then instructions."""
        price = np.zeros(self.size)
        scale = 1e-3 / (1 + sum(self.counts.values()) + len(self.flow.ops))
        for e, edge in enumerate(self.flow.edges):
            length = len(self.flow.blocks[edge.end]) if edge.end >= 0 else 0
            price[e] = scale * (length + 1) + PARTED * edge.parted
        for c, channel in enumerate(self.channels):
            weight = WEIGHTS.get(channel[1], 1.0) / self._amount(channel)
            if not self.counts[channel]:  # the compiler may name another line for an access
                weight = NONE_COUNTED * scale / self._amount(channel)
            price[self._over(c)] = price[self._over(c) + 1] = weight
        return price

    def _amount(self, channel: Channel) -> float:
        """Return the work by which what is missed of a channel is measured."""
        least = min(
            [
                *self.work.blocks.get(channel, {}).values(),
                *self.work.guarded.get(channel, {}).values(),
            ]
        )
        return max(self.counts[channel], least)

    def _over(self, c: int) -> int:
        return self.edges + len(self.guards) + 2 * c

    def rules(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows, and the least and most that each may be."""
        rows: list[tuple[dict[int, float], float, float]] = [({0: 1.0}, 1.0, 1.0)]
        rows += [self._kept(n) for n in range(len(self.flow.blocks))]
        rows += [self._entered(*loop) for loop in self.flow.loops()]
        rows += [self._within(g, guard) for g, guard in enumerate(self.guards)]
        rows += [self._explained(c, channel) for c, channel in enumerate(self.channels)]
        matrix = np.zeros((len(rows), self.size))
        for i, (row, _, _) in enumerate(rows):
            for column, value in row.items():
                matrix[i, column] += value
        matrix[0] = 0
        matrix[0, [e for e, edge in enumerate(self.flow.edges) if edge.start == ENTRY]] = 1
        return matrix, np.array([row[1] for row in rows]), np.array([row[2] for row in rows])

    def _kept(self, n: int) -> tuple[dict[int, float], float, float]:
        """A block is left as often as it is entered."""
        row: dict[int, float] = defaultdict(float)
        for e in self.entering[n]:
            row[e] += 1
        for e in self.leaving[n]:
            row[e] -= 1
        return row, 0.0, 0.0

    def _entered(self, first: int, last: int) -> tuple[dict[int, float], float, float]:
        """Nobody goes round a loop who has not come into it, nor more often than a warp counts
        work between two barriers."""
        row: dict[int, float] = {}
        most = min(MOST_TRIPS, self.most_counted)
        of_first, of_last = self._most_passes(first, last)
        for e, edge in enumerate(self.flow.edges):
            inside = first <= edge.end <= last
            if inside and not first <= edge.start <= last:
                row[e] = min(most, of_last, of_first - (edge.end == first))
            elif edge.back and edge.end == first and inside:
                row[e] = -1.0
        return row, 0.0, np.inf

    def _most_passes(self, first: int, last: int) -> tuple[float, float]:
        """Return the most passes of a loop's first and last block each time that it is entered."""
        inside = [i for block in self.flow.blocks[first : last + 1] for i in block]
        if any(self.flow.ops[i].name == "BAR" for i in inside):
            return np.inf, np.inf
        return self._passes_between(first), self._passes_between(last)

    def _passes_between(self, n: int) -> float:
        """Return the most passes of a block between two barriers, by that work in it which allows
        most of them: a compiler may name one line for another."""
        amounts = {c: self.work.blocks.get(c, {}).get(n, 0.0) for c in self.channels}
        limits = [self.between.get(c, np.inf) / a for c, a in amounts.items() if a]
        return max((max(1.0, np.floor(most + EXACT)) for most in limits), default=np.inf)

    def _within(self, g: int, guard: Guarded) -> tuple[dict[int, float], float, float]:
        """Guarded accesses run at most as often as their block."""
        row = {e: 1.0 for e in self.entering[guard[0]]}
        row[self.edges + g] = -1.0
        return row, 0.0, np.inf

    def _explained(self, c: int, channel: Channel) -> tuple[dict[int, float], float, float]:
        """A channel's work is what the trace counted, but for what is missed."""
        row: dict[int, float] = defaultdict(float)
        for n, amount in self.work.blocks.get(channel, {}).items():
            for e in self.entering[n]:
                row[e] += amount
        for guard, amount in self.work.guarded.get(channel, {}).items():
            row[self.edges + self.guards.index(guard)] += amount
        row[self._over(c)], row[self._over(c) + 1] = -1.0, 1.0
        return row, self.counts[channel], self.counts[channel]

    def whole(self) -> np.ndarray:
        """Edges and guarded accesses are whole numbers."""
        return np.array([1] * (self.edges + len(self.guards)) + [0] * (2 * len(self.channels)))

    def most(self) -> np.ndarray:
        """Return the most that each column may be.

        No warp goes a way more often than the counts of what it does there, and ways that count
        nothing are dear. With the bound the solver is up to ten times as fast."""
        found = np.full(self.size, np.inf)
        found[: self.edges] = self.most_counted
        return found

    def straight(self) -> np.ndarray:
        """Return a walk through all blocks in turn, for want of a solution."""
        values = np.zeros(self.size)
        for e, edge in enumerate(self.flow.edges):
            values[e] = edge.end == edge.start + 1 and not edge.parted
        return values

    def read(self, values: np.ndarray) -> Trips:
        """Return a solution as Trips."""
        whole = np.rint(values[: self._over(0)]).astype(int)
        guarded = {g: int(whole[self.edges + i]) for i, g in enumerate(self.guards)}
        return Trips(tuple(whole[: self.edges].tolist()), guarded, self._missed(values))

    def _missed(self, values: np.ndarray) -> dict[Channel, float]:
        """Return the share of each channel's work that is not explained.

        What one line has too much and its neighbour too little, or lacks whole, cancels out, for a
        compiler names one for the other; and it spares loads and operations, where the rest of a
        line fits."""
        off = {channel: -count for channel, count in self.counts.items()}
        off |= {
            channel: float(values[self._over(c)] - values[self._over(c) + 1])
            for c, channel in enumerate(self.channels)
        }
        return {
            channel: abs(self._net(channel, off)) / self._amount(channel)
            for channel in self.channels
            if self.counts[channel]
        }

    def _net(self, channel: Channel, off: Mapping[Channel, float]) -> float:
        line, kind = channel
        near = [c for c in off if c[1] == kind and abs(c[0] - line) <= NEAR]
        net = sum(off[c] for c in near)
        fits = [c for c in off if c[0] == line and c != channel and abs(off[c]) < EXACT]
        if abs(net) < abs(off[channel]) and off[channel] * net >= 0:
            return net
        spared = kind.endswith("load") or kind.startswith("flops")
        return 0.0 if spared and off[channel] < 0 and fits else off[channel]
