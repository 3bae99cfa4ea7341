"""A kernel's instructions as the engine's columns: pipes, registers, clocks, sectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from warpwise.metrics import SECTOR_BYTES, WARP_SIZE
from warpwise.stopwatch import engine
from warpwise.stopwatch.accesses import atomic_clocks, clocks, partly_stored, sectors
from warpwise.stopwatch.cards import Card
from warpwise.stopwatch.flow import Flow
from warpwise.stopwatch.l1 import l1_miss_shares
from warpwise.stopwatch.opcodes import PIPES
from warpwise.stopwatch.register_reads import BANKS, register_reads
from warpwise.stopwatch.sass import Op
from warpwise.stopwatch.traffic import Use, dram_share, read_for_nothing
from warpwise.stopwatch.units import ARITHMETIC_CLOCKS, timing
from warpwise.traces import KINDS, Trace

RESULTS, SOURCES = 8, 18
TENSOR_LATENCY = 18.0  #: after the product's own clocks; assumed
WARPGROUP = ("HGMMA", "IGMMA", "QGMMA")  #: products of a whole warpgroup
#: Times a full sector that L2 works on one of which a warp stores a part, for it reads it first;
#: assumed.
PARTLY = 2.0
SAMPLES = 64  #: requests of each kind on each line whose cost is worked out

Site = tuple[int, str, str]  #: line of the trace, space, kind of access


@dataclass(frozen=True)
class Cost:
    """What a request costs on average: clocks of the load/store units, sectors of L2 and DRAM.

    Sectors of L2 as loads of whole ones, of which a store is worth more. ``waits``: the share of
    the requests that wait for DRAM."""

    clocks: float
    l2_sectors: float = -1.0
    dram_sectors: float = 0.0
    waits: float = 1.0


@dataclass(frozen=True)
class Columns:
    """The engine's columns, in the order of its arguments; each instruction twice.

    The second time without its access, for a warp whose lanes are all off."""

    kind: np.ndarray
    results: np.ndarray
    sources: np.ndarray
    clocks: np.ndarray
    latencies: np.ndarray
    answer: np.ndarray
    lsu: np.ndarray
    sectors: np.ndarray
    dram: np.ndarray
    waits: np.ndarray
    reads: np.ndarray  #: of each bank of registers

    def all(self) -> tuple[np.ndarray, ...]:
        return tuple(vars(self).values())


class Costs:
    """Costs of a trace's requests on one card, worked out when they are first asked for.

    ``uses`` and ``wave``, the blocks on the GPU together, say what comes from DRAM."""

    def __init__(
        self,
        trace: Trace,
        card: Card,
        uses: dict[str, Use],
        grid: tuple[int, int, int],
        wave: int,
        l1_bytes: int,
    ):
        self.trace, self.card, self.uses, self.grid, self.wave = trace, card, uses, grid, wave
        resident = -(-wave // card.device.sms)  # each has its part of L1
        self.missed = l1_miss_shares(trace, l1_bytes // max(1, resident))
        self.requests, self.asked = _requests(trace), _asked(trace)
        self.widths = _widths(trace)
        self.known: dict[tuple[Site, int], Cost] = {}

    def of(self, op: Op, line: int) -> Cost:
        """Return the cost of an instruction's request."""
        key = (line, op.space, op.access), op.width
        if key not in self.known:
            self.known[key] = self._cost(op, line)
        return self.known[key]

    def _cost(self, op: Op, line: int) -> Cost:
        if op.access == "shuffle":
            return Cost(WARP_SIZE / 32)
        if op.space == "local":  # neighbours' words lie side by side, and stay in L1
            return Cost(_alone(op.width, "global", self.card), 0.0)
        kind = "load" if op.access == "copy" else op.access
        found = self.requests.get((line, op.space, kind)) or self.requests.get((0, op.space, kind))
        if not found:
            plain = _alone(op.width, op.space, self.card)
            return Cost(plain) if op.space == "shared" else Cost(plain, op.width, op.width)
        if op.space == "shared":
            return Cost(_mean([self._shared(a, op) for a, _ in found]))
        return self._global(found, op, kind, line)

    def _shared(self, addresses: Sequence[int], op: Op) -> float:
        if op.access == "atomic":
            return atomic_clocks(addresses)
        if op.name in ("LDSM", "STSM"):  # a matrix of 8 rows of 16 bytes in each pass
            return op.width / 4
        return clocks(addresses, op.width, "shared", self.card.core)

    def _global(
        self, found: list[tuple[tuple[int, ...], str]], op: Op, kind: str, line: int
    ) -> Cost:
        touched = _mean([len(sectors(_wide(a, op.width), op.width)) for a, _ in found])
        passes = _mean([clocks(a, op.width, "global", self.card.core) for a, _ in found])
        if kind == "atomic":
            return Cost(passes, touched, touched)
        merged = [max(1.0, op.width / self.widths[array, kind]) for _, array in found]
        past_l1 = kind == "store" or op.access == "copy" or ".STRONG" in op.text or ".CG" in op.text
        from_dram = _mean(
            [self._from_dram(a, kind, n, past_l1) for (_, a), n in zip(found, merged, strict=True)]
        )
        if kind == "store":
            taken = touched + (PARTLY - 1) * _mean([_partly(a, op.width) for a, _ in found])
            return Cost(passes, taken / self.card.core.l2_store_share, touched * from_dram)
        missed = 1.0 if past_l1 else self._missed(line, _mean(merged))
        waits = _mean([self._brought(array, kind) for _, array in found])
        return Cost(passes, touched * missed, touched * missed * from_dram, waits)

    def _brought(self, array: str, kind: str) -> float:
        """Return the share of the blocks that fetch what they load of an array from DRAM.

        The others find it in L2, unless all blocks begin together and wait for the same. In a block
        one request fetches and the others wait with it."""
        use = self.uses.get(array)
        if use is None or prod(self.grid) <= self.wave:
            return 1.0
        return dram_share(use, kind, self.grid, self.wave, self.card)

    def _missed(self, line: int, merged: float) -> float:
        """Return the share of a load's sectors that L1 does not have.

        ``merged``: the source's requests that the compiler made one of, with its neighbours' hits
        in it."""
        return min(1.0, self.missed.get(line, 1.0) * merged)

    def _from_dram(self, array: str, kind: str, merged: float, past_l1: bool) -> float:
        """Return the sectors from or to DRAM over all those that a block asks L2 for."""
        use, lines = self.uses.get(array), self.asked.get((array, kind), {})
        asked = sum(
            sectors / merged * (1.0 if past_l1 else self._missed(line, merged))
            for line, sectors in lines.items()
        )
        if use is None or not asked:
            return 1.0
        different = (use.loaded if kind == "load" else use.stored) / SECTOR_BYTES
        share = dram_share(use, kind, self.grid, self.wave, self.card)
        if kind == "load":
            share *= read_for_nothing(use, self.grid, self.card)
        return share * min(1.0, different / asked)


def columns(flow: Flow, lines: Sequence[int], costs: Costs, card: Card) -> Columns:
    """Return the columns of a kernel's instructions on a card."""
    ops, n = flow.ops, len(flow.ops)
    made = Columns(
        np.full(2 * n, engine.ALU, np.int8),
        np.full((2 * n, RESULTS), -1, np.int16),
        np.full((2 * n, SOURCES), -1, np.int16),
        np.full(2 * n, ARITHMETIC_CLOCKS),
        np.full(2 * n, card.core.arithmetic_latency, np.float64),
        np.full(2 * n, engine.WAIT, np.int8),
        np.zeros(2 * n),
        np.full(2 * n, -1.0),
        np.zeros(2 * n),
        np.ones(2 * n),
        np.concatenate([register_reads(flow), np.zeros((n, BANKS))]),
    )
    for i, (op, line) in enumerate(zip(ops, lines, strict=True)):
        for place in (i, n + i):
            made.results[place, : len(op.results[:RESULTS])] = op.results[:RESULTS]
            made.sources[place, : len(op.operands[:SOURCES])] = op.operands[:SOURCES]
        made.kind[i] = PIPES.index(op.pipe or "alu")
        made.clocks[i], made.latencies[i] = _timing(op, card)
        made.answer[i] = _answer(op)
        if op.pipe == "lsu":
            _access(made, i, costs.of(op, line) if op.access else Cost(1.0))
    made.results[n:] = -1
    return made


def _access(made: Columns, i: int, cost: Cost) -> None:
    made.lsu[i], made.waits[i] = cost.clocks, cost.waits
    made.sectors[i], made.dram[i] = cost.l2_sectors, cost.dram_sectors


def _timing(op: Op, card: Card) -> tuple[float, float]:
    """Return the clocks for which an instruction holds its pipe, and its latency."""
    if op.pipe == "tensor":
        share = 1.0 if op.name in WARPGROUP else card.core.warp_share
        held = tensor_flops(op) / (share * card.tensor_flops / card.device.sm.sub_partitions)
        return held, held + TENSOR_LATENCY
    if op.pipe == "control":
        branches = op.name in ("BRA", "CALL", "RET", "BRX", "JMP", "EXIT")
        return (engine.BRANCH_CLOCKS if branches else 1.0), 1.0
    return timing(op.pipe or "alu", card)


def tensor_flops(op: Op) -> float:
    """Return the operations of a product on tensor cores, those of TF32 as twice as many.

    The shape stands in its name: 16816 is 16 x 8 x 16."""
    parts = op.text.split(None, 2)[1 if op.guard else 0].split(".")
    shape = next((part for part in parts[1:] if part.isdigit()), "16816")
    known = {"16816": (16, 8, 16), "1688": (16, 8, 8), "1684": (16, 8, 4), "884": (8, 8, 4)}
    m, n, k = known.get(shape, (16, 8, 16))
    return 2.0 * m * n * k * (2 if "TF32" in parts else 1)


def _answer(op: Op) -> int:
    """Return the reason that Nsight Compute names when another instruction waits for this one."""
    if op.pipe == "lsu":
        return engine.SHORT if op.space == "shared" else engine.LONG
    return engine.SHORT if op.pipe in ("special", "uniform") else engine.WAIT


def _requests(trace: Trace) -> dict[Site, list[tuple[tuple[int, ...], str]]]:
    """Return some requests of each site, spread over the recorded ones, with their arrays.

    Line 0 stands for all lines."""
    r = trace.records
    by_site: dict[Site, list[int]] = defaultdict(list)
    for i in np.flatnonzero(r.array >= 0).tolist():
        site = int(r.line[i]), trace.arrays[r.array[i]].space, KINDS[r.kind[i]]
        by_site[site].append(i)
    for (_, space, kind), rows in list(by_site.items()):
        by_site[0, space, kind] += rows
    return {site: _sampled(trace, rows) for site, rows in by_site.items()}


def _sampled(trace: Trace, rows: Sequence[int]) -> list[tuple[tuple[int, ...], str]]:
    found: list[tuple[tuple[int, ...], str]] = []
    step = len(rows) // SAMPLES | 1  # odd, so that of arrays in turn none is left out
    for turn, i in enumerate(rows[::step]):
        addresses = trace.records.addresses[i]
        warps = [w for w in range(0, len(addresses), 32) if (addresses[w : w + 32] >= 0).any()]
        for w in warps[turn % max(1, len(warps)) :][:2] if warps else []:
            found.append(
                (tuple(addresses[w : w + 32].tolist()), trace.arrays[trace.records.array[i]].name)
            )
    return found


def _asked(trace: Trace) -> dict[tuple[str, str], dict[int, float]]:
    """Return the sectors that the first recorded block asks for on each line, by array and kind."""
    r = trace.records
    first = r.of_first_block
    found: dict[tuple[str, str], dict[int, float]] = {}
    for number, info in enumerate(trace.arrays):
        for kind in ("load", "store"):
            rows = np.flatnonzero(first & (r.array == number) & (r.kind == KINDS.index(kind)))
            if info.space == "global" and len(rows):
                some = rows[:: len(rows) // SAMPLES | 1]
                by_line = found.setdefault((info.name, kind), defaultdict(float))
                for i in some.tolist():
                    sectors = _row_sectors(r.addresses[i], int(r.width[i]))
                    by_line[int(r.line[i])] += sectors * len(rows) / len(some)
    return found


def _widths(trace: Trace) -> dict[tuple[str, str], float]:
    """Return the bytes that a lane accesses in a request of an array, on average, by its kind."""
    r, found = trace.records, {}
    for number, info in enumerate(trace.arrays):
        for k, kind in enumerate(KINDS):
            widths = r.width[(r.array == number) & (r.kind == k)]
            if len(widths):
                found[info.name, kind] = float(widths.mean())
    return found


def _row_sectors(addresses: np.ndarray, itemsize: int) -> int:
    warps = range(0, len(addresses), WARP_SIZE)
    return sum(len(sectors(addresses[w : w + WARP_SIZE].tolist(), itemsize)) for w in warps)


def _wide(addresses: Sequence[int], width: int) -> list[int]:
    return [a // width * width if a >= 0 else -1 for a in addresses]


def _partly(addresses: Sequence[int], width: int) -> int:
    return partly_stored(_wide(addresses, width), width)


def _alone(width: int, space: str, card: Card) -> float:
    """Return the clocks of a request of neighbours, for want of a recorded one."""
    return clocks([width * lane for lane in range(WARP_SIZE)], width, space, card.core)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
