"""One SM's warps over a kernel as it is written, for where there is no compiler: on a page.

Each warp runs what the trace recorded of it, in order, on the engine's SM: of a line first the
loads, then the arithmetic, one operation after another, and then the stores. A line waits for the
names that it reads, a load for those in its index alone. A sector comes from DRAM when the block
loads it for the first time, and from L1 after that; the other SMs ask for as much.

Left out: all that a compiler does. It moves loads forward, unrolls loops, makes one instruction of
a product and a sum, and some of none. ``Trace.time`` reads its code."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from warpwise.errors import TraceError
from warpwise.metrics import Metrics
from warpwise.stopwatch import engine
from warpwise.stopwatch.accesses import clocks, sectors
from warpwise.stopwatch.cards import Card, known
from warpwise.stopwatch.film import Timeline
from warpwise.stopwatch.units import latencies_of, rates_of, timing
from warpwise.traces import Event, Trace
from warpwise.views.frame import Frame
from warpwise.views.view import View
from warpwise.views.warps import DEVICE, of_timeline

CLOCKS = 1800  #: of the timeline
RESULTS, SOURCES = 4, 16  #: registers of an instruction
#: Registers of no name: a line's value so far, and what its loads bring, in turn.
SO_FAR, LOADED, LOADS = 500, 501, 16
ASKS = Frame(
    "Your kernel on one SM.",
    "In which clocks is nothing issued, and what do the warps wait for?",
    ("scheduler", "first"),
)
SPACES = ("global", "shared")
MEMORY = ("load", "store", "atomic")
NEAR = (
    -1.0,
    0.0,
    0.0,
)  #: sectors of L2 and of DRAM, and the share that waits for DRAM, of all else


def line_by_line(trace: Trace, device: object = DEVICE) -> View:
    """Show the warps of the first recorded block on one SM, clock by clock: modelled.

    Raises TraceError for a trace without its kernel or events, or with device functions."""
    card = known(device)  # type: ignore[arg-type]
    made = Instructions(card, _lines(trace))
    walks = [[i for step in steps for i in made.add(step)] for steps in _steps(trace)]
    did, seen = _watched(made, walks)
    places = {line: (trace.place(line), text.strip()) for line, text in trace.source.items()}
    film = made.film(did, seen, places).packed()
    return of_timeline(film, card.name, "all", CLOCKS, ASKS)


@dataclass(frozen=True)
class Line:
    """Names that a line of the kernel reads, those in its loads' indices, and those it sets."""

    reads: tuple[str, ...]
    indices: tuple[str, ...]
    sets: tuple[str, ...]
    pipe: str  #: of its arithmetic


@dataclass(frozen=True)
class Step:
    """One warp's pass of a line: so many operations, and what it asks of memory."""

    line: int
    operations: int
    requests: tuple[Event, ...]
    barrier: bool


def _lines(trace: Trace) -> dict[int, Line]:
    if trace.launched is None:
        raise TraceError("a trace read from a file has no kernel: trace it here")
    if trace.functions:
        called = trace.functions[0].name
        raise TraceError(f"{trace.kernel} calls {called}: write it out in its place")
    names = {kind: defaultdict[int, list[str]](list) for kind in ("Load", "Store", "index")}
    for node in ast.walk(trace.launched[0].tree):
        if isinstance(node, ast.Name):
            names[type(node.ctx).__name__][node.lineno].append(node.id)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names["Load"][node.lineno].append(node.target.id)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            names["index"][node.lineno] += _named(node.slice)
    reads, indices, sets = (names[kind] for kind in ("Load", "index", "Store"))
    return {
        line: Line(_once(reads[line]), _once(indices[line]), _once(sets[line]), _pipe(counts))
        for line, counts in trace.by_line.items()
    }


def _once(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _named(tree: ast.AST) -> list[str]:
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def _pipe(counts: Metrics) -> str:
    """Return the pipe of a line's arithmetic: the slowest that it needs."""
    used = {"fp64": counts.op_fp64, "special": counts.op_special, "fp32": counts.op_fp32}
    return next((pipe for pipe, count in used.items() if count), "alu")


def _steps(trace: Trace) -> list[list[Step]]:
    """Return what each warp of the first recorded block does, in order."""
    by_warp: dict[int, list[list[Event]]] = defaultdict(list)
    first = trace.events[0].block if trace.events else None
    for event in trace.events:
        if event.block == first:
            pieces = by_warp[event.warp]
            if event.kind == "issue" or not pieces:
                pieces.append([])
            pieces[-1].append(event)
    return [[_step(piece) for piece in by_warp[warp]] for warp in sorted(by_warp)]


def _step(piece: Sequence[Event]) -> Step:
    asked = tuple(e for e in piece if e.kind in MEMORY and e.space in SPACES)
    barrier = any(e.kind == "barrier" for e in piece)
    slots = sum(e.slots for e in piece)
    return Step(piece[0].line, max(0, slots - len(asked) - barrier), asked, barrier)


@dataclass
class Instructions:
    """The engine's columns, one row for each instruction of each warp, as steps are added."""

    card: Card
    lines: dict[int, Line]
    rows: list[tuple[object, ...]] = field(default_factory=list)
    named: list[tuple[str, int]] = field(default_factory=list)  #: what it is, and its line
    registers: dict[str, int] = field(default_factory=dict)
    touched: set[tuple[str, int]] = field(default_factory=set)

    def add(self, step: Step) -> list[int]:
        """Return the numbers of a step's instructions."""
        first, line = len(self.rows), self.lines[step.line]
        loads = [e for e in step.requests if e.kind != "store"]
        stores = [e for e in step.requests if e.kind == "store"]
        sets, last = self._of(line.sets), [] if step.operations else self._of(line.sets)
        brought = [LOADED + k % LOADS for k in range(len(loads))]
        for event, register in zip(loads, brought, strict=True):
            self._access(event, [register, *last], self._of(line.indices))
        known = [*self._of(line.reads), *brought]
        for k in range(step.operations):
            self._arithmetic(step.line, line.pipe, sets, [SO_FAR] if k else known)
        for event in stores:
            self._access(event, [], [SO_FAR] if step.operations else known)
        if step.barrier:
            self._row(step.line, "barrier", engine.BARRIER, [], [], (1.0, 1.0), engine.WAIT)
        return list(range(first, len(self.rows)))

    def _of(self, names: Iterable[str]) -> list[int]:
        return [self.registers.setdefault(name, len(self.registers) % SO_FAR) for name in names]

    def _arithmetic(self, line: int, pipe: str, sets: list[int], reads: list[int]) -> None:
        kind = {"fp64": engine.FP64, "special": engine.SPECIAL, "fp32": engine.FP32}
        answer = engine.SHORT if pipe == "special" else engine.WAIT
        number, held = kind.get(pipe, engine.ALU), timing(pipe, self.card)
        self._row(line, "arithmetic", number, [SO_FAR, *sets], reads, held, answer)

    def _access(self, event: Event, sets: list[int], reads: list[int]) -> None:
        """Add a request: its clocks in the load/store units, and its sectors of L2 and of DRAM."""
        far = event.space == "global"
        asked = {(event.array, s) for s in sectors(event.addresses, event.itemsize)}
        new = asked if event.kind != "load" else asked - self.touched
        self.touched |= asked
        held = clocks(event.addresses, event.itemsize, event.space, self.card.core)
        self._row(
            event.line, f"{event.kind} of {event.array}", engine.LSU, sets, reads, (1.0, 1.0),
            engine.LONG if far else engine.SHORT,
            (held, float(len(new)), float(len(new)), float(bool(new))) if far else (held, *NEAR),
        )  # fmt: skip

    def _row(
        self, line: int, name: str, kind: int, sets: list[int], reads: list[int],
        held: tuple[float, float], answer: int, cost: tuple[float, ...] = (0.0, *NEAR),
    ) -> None:  # fmt: skip
        padded = _padded(sets, RESULTS), _padded(reads, SOURCES)
        self.rows.append((kind, *padded, *held, answer, *cost))
        self.named.append((name, line))

    def columns(self) -> list[np.ndarray]:
        types = np.int8, np.int16, np.int16, float, float, np.int8, *[float] * 4
        made = [np.array(c, t) for c, t in zip(zip(*self.rows, strict=True), types, strict=True)]
        return [*made, np.zeros((len(self.rows), 0))]  # no name has a register of a bank

    def film(
        self, did: np.ndarray, seen: np.ndarray, places: dict[int, tuple[str, str]]
    ) -> Timeline:
        """Return the timeline, in which equal instructions of a line are one."""
        kinds = list(dict.fromkeys(self.named))
        number = {kind: n for n, kind in enumerate(kinds)}
        numbers = np.array([number[one] for one in self.named], np.int16)
        names, lines = zip(*kinds, strict=True)
        return Timeline(0, did, numbers[seen], names, lines, places)


def _padded(registers: Sequence[int], count: int) -> list[int]:
    return [*registers[:count], *[-1] * (count - len(registers[:count]))]


def _watched(made: Instructions, walks: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return what each warp does in each clock, and with which instruction."""
    lengths = np.array([len(walk) for walk in walks], np.int64)
    streams = np.array([_padded(walk, int(lengths.max())) for walk in walks], np.int32)
    did = np.full((len(walks), CLOCKS), engine.ABSENT, np.int8)
    seen = np.zeros(did.shape, np.int32)
    card = made.card
    engine.watch(
        *made.columns(), streams, lengths, np.arange(len(walks)), 1, 1,
        np.array(latencies_of(card)), np.array(rates_of(card, card.device.sms, 1.0)),
        0.0, card.core.two_float_pipes, did, seen, 0.0,
    )  # fmt: skip
    last = 1 + int(np.flatnonzero((did != engine.ABSENT).any(axis=0))[-1])
    return did[:, :last], seen[:, :last]
