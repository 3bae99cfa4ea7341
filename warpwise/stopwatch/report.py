"""From a run of the engine to an Estimate: how busy each resource was, and who used it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from math import inf, prod

import numpy as np

from warpwise.stopwatch import engine
from warpwise.stopwatch.accesses import sectors
from warpwise.stopwatch.cards import Card
from warpwise.stopwatch.case import Case
from warpwise.stopwatch.change_accesses import regular
from warpwise.stopwatch.change_work import of_float64
from warpwise.stopwatch.details import Deferred
from warpwise.stopwatch.estimate import BUSY, CAUSES, IMPOSSIBLE, Estimate, Share, few
from warpwise.stopwatch.families import ENOUGH, UNKNOWN, devices, nearest
from warpwise.stopwatch.least import ARITHMETIC, least
from warpwise.stopwatch.opcodes import PIPE_WORDS
from warpwise.stopwatch.predict import ATOMICS, LAUNCH_SECONDS, Run
from warpwise.stopwatch.program import Program
from warpwise.stopwatch.resources import uses_of_sm
from warpwise.stopwatch.sharing import doubts, far, most, unlike
from warpwise.stopwatch.student_source import in_float32
from warpwise.stopwatch.traffic import sharing_unseen
from warpwise.traces import Trace

MOST_SHARES = 5
#: Share of a line's counted work above which a note says that it is not explained. Without a loop
#: that does no harm: a compiler leaves out loads that it has made before.
MISSED = 0.1
SCATTERED = (
    0.5  #: share of a launch's sectors in requests without a pattern, above which it is told
)


def estimate(
    trace: Trace, program: Program, card: Card, grid: tuple[int, int, int], run: Run
) -> Estimate:
    """Gather what a run says."""
    seconds = run.clocks / (1e9 * card.ghz) + LAUNCH_SECONDS
    uses = uses_of_sm(run.columns, program.executions, run.rates, card)
    busy = {
        name: min(1.0, float(run.blocks_per_sm * use.sum() / run.clocks))
        for name, use in uses.items()
    }
    busy |= {ATOMICS: run.atomics} if run.atomics else {}
    binds = max(busy, key=busy.__getitem__)
    binds = binds if busy[binds] >= BUSY else "latency"
    flops, peak = _flops(trace, program, grid), _peak(trace, program, card)
    impossible = _too_fast(flops, seconds, peak)
    notes = _doubts(trace, program, grid, run) + impossible * (not far(trace))
    doubt = bool(notes)
    if doubt:  # then nothing is hinted
        notes += _in_float64(trace, binds, busy.get(binds, 0.0))
        notes += _fewer_atomics(program, binds)
    family = None if doubt or card.guessed else nearest(binds)
    if not doubt:
        notes += _unchecked(binds, card)
    if binds == ATOMICS:
        by_instruction = _of_atomics(program)
    else:
        by_instruction = uses.get(binds, run.stalls[:, : engine.START].sum(axis=1))
    blocks = prod(grid)
    from_dram = run.columns.dram * program.executions
    waits = _by_cause(run)
    dram_bytes = 32.0 * float(from_dram.sum()) * blocks
    floor = max(
        _at_dram(trace, card, grid, dram_bytes, doubt), 0.0 if impossible else flops / (peak or inf)
    )
    error = family.within if family else UNKNOWN
    low = max(seconds * (1 - error), min(seconds, floor))  # also a model may be at the limit
    case = Case(trace, program, card, run, busy, waits)
    found = Estimate(
        kernel=trace.kernel,
        device=card.name,
        grid=grid,
        seconds=seconds,
        low=seconds if run.raised_by else low,
        high=seconds * (1 + error) * (most(trace) if doubt else 1.0),
        binds=binds,
        pipes=_largest(busy),
        lines=_lines(trace, program, by_instruction),
        waits=_largest(waits),
        doubtful=doubt,
        family=str(family or ""),
        flops=flops,
        dram_bytes=dram_bytes,
        peak_flops_per_s=peak,
        peak_bytes_per_s=card.device.dram_bytes_per_s,
        notes=notes,
        details=Deferred(case, seconds, doubt),
    )
    return _only_least(found, trace, card) if far(trace) else found


def _at_dram(
    trace: Trace, card: Card, grid: tuple[int, int, int], dram_bytes: float, doubt: bool
) -> float:
    """Return the seconds of a launch's bytes at DRAM's peak, in doubt of the least ones."""
    counted = trace.metrics.dram_bytes_moved[0] * prod(grid) / prod(trace.grid)
    return (min(dram_bytes, counted) if doubt else dram_bytes) / card.device.dram_bytes_per_s


def _only_least(found: Estimate, trace: Trace, card: Card) -> Estimate:
    """Return what is left of an estimate whose block is unlike the others: a lower bound.

    A launch takes at least what its counters need, and if its average block does more than the
    recorded one, the low end of that one's range."""
    work = 1 + unlike(trace)
    of_block = found.flops * work > IMPOSSIBLE * found.peak_flops_per_s * found.seconds
    seconds, binds = least(trace, card.device, found.grid, ARITHMETIC if of_block else ())
    own = LAUNCH_SECONDS
    if work < 1:
        own += (found.seconds - LAUNCH_SECONDS) * (1 - UNKNOWN)
    if own > seconds:
        seconds, binds = own, found.binds if work < 1 else "latency"
    return replace(found, seconds=seconds, low=seconds, high=inf, binds=binds, lines=())


def _flops(trace: Trace, program: Program, grid: tuple[int, int, int]) -> float:
    """Return the operations of the launch in question, which are those of its longest loop."""
    longer = program.longer if program.loop is not None else 1.0
    return trace.metrics.flops * longer / prod(trace.grid) * prod(grid)


def _too_fast(flops: float, seconds: float, peak: float) -> tuple[str, ...]:
    """Return in words that a launch would be faster than the device's peak, if it would be."""
    if not peak or flops <= IMPOSSIBLE * peak * seconds:
        return ()
    rate, most = few(flops / seconds / 1e12), few(peak / 1e12)
    return (
        f"the trace counted operations for {rate} TFLOP/s, and the device can do {most}: the "
        "compiler leaves some out, or the machine code's loops are counted wrongly: a wide range",
    )


def _peak(trace: Trace, program: Program, card: Card) -> float:
    """Return the device's peak for operations of these kinds, by the datasheet.

    0 where it gives none: for float16 outside of tensor cores, and for TF32 on them."""
    counts, device = trace.metrics, card.device
    on_tensor_cores = [op.text for op in program.ops if op.pipe == "tensor"]
    if on_tensor_cores:
        return (
            0.0 if any("TF32" in text for text in on_tensor_cores) else device.tensor16_flops_per_s
        )
    if counts.flops_fp16:
        return 0.0
    seconds = (
        counts.flops_fp32 / device.fp32_flops_per_s + counts.flops_fp64 / device.fp64_flops_per_s
    )
    return counts.flops / seconds if seconds else 0.0


def _lines(trace: Trace, program: Program, by_instruction: np.ndarray) -> tuple[Share, ...]:
    """Return the source lines by their part."""
    n, total = len(program.ops), by_instruction.sum()
    parts: dict[int, float] = defaultdict(float)
    for i, amount in enumerate((by_instruction[:n] + by_instruction[n:]).tolist()):
        parts[program.lines[i]] += amount / total if total else 0.0
    named = sorted(parts.items(), key=lambda item: -item[1])[:MOST_SHARES]
    return tuple(
        Share(trace.place(line), float(part), trace.source.get(line, "").strip())
        for line, part in named
        if part > 0.005
    )


def _by_cause(run: Run) -> dict[str, float]:
    """Return the causes of waiting by their part of all of it."""
    by_cause = run.stalls.sum(axis=0)[: engine.START]
    total = by_cause.sum() or 1.0
    return dict(zip(CAUSES, (by_cause / total).tolist(), strict=False))


def _of_atomics(program: Program) -> np.ndarray:
    """Return how often a block's warps run each instruction that is an atomic of global memory."""
    found = np.zeros(len(program.executions))
    for number, op in enumerate(program.ops):
        if op.access == "atomic" and op.space == "global":
            found[number] = program.executions[number]
    return found


def _largest(shares: dict[str, float]) -> tuple[Share, ...]:
    named = sorted(shares.items(), key=lambda item: -item[1])[:MOST_SHARES]
    return tuple(Share(name, float(part)) for name, part in named if part > 0.005)


def _in_float64(trace: Trace, binds: str, busy: float) -> tuple[str, ...]:
    """Return what to do about float64 arithmetic that binds, though no array is of float64."""
    if binds != PIPE_WORDS["fp64"] or of_float64(trace):
        return ()
    share = f"{100 * busy:.0f} % of the time"
    return (f"{binds} takes {share}, though no array is of float64: {in_float32(trace, ())}",)


def _fewer_atomics(program: Program, binds: str) -> tuple[str, ...]:
    """Return what to do about atomics that bind, for which no time is foretold."""
    if binds != ATOMICS:
        return ()
    if program.shared_bytes:
        return (f"{binds} take turns: launch fewer blocks, and let each loop over more elements",)
    return (
        f"{binds} take turns: let each block add up in shared memory first, and then send one sum "
        "for each address",
    )


def _scattered(trace: Trace, program: Program, run: Run) -> tuple[str, ...]:
    """Return in words that most sectors are touched by lanes whose places follow no pattern."""
    n = len(program.ops)
    by_line: dict[int, float] = defaultdict(float)
    moved = np.maximum(run.columns.sectors[:n], 0) * program.executions[:n]
    for i in np.flatnonzero(moved).tolist():
        op, line = program.ops[i], program.lines[i]
        found = run.costs.requests.get(
            (line, op.space, "load" if op.access == "copy" else op.access)
        )
        if found and op.access != "atomic":
            sizes = [len(sectors(addresses, op.width)) for addresses, _ in found]
            odd = [0 if regular(a) else size for (a, _), size in zip(found, sizes, strict=True)]
            by_line[line] += moved[i] * sum(odd) / sum(sizes)
    if sum(by_line.values()) <= SCATTERED * moved.sum():
        return ()
    place = trace.place(max(by_line, key=by_line.__getitem__))
    return (
        f"on {place} lanes access places without a pattern, and how much of them caches keep is "
        "a guess: a wide range",
    )


def _unchecked(binds: str, card: Card) -> tuple[str, ...]:
    """Return in words what of a model no published time checks."""
    if card.guessed:
        what = f"no published time checks the model on a {card.name}, of which figures are guessed"
        return (f"{what}: a wide range",)
    notes = []
    if card.name not in devices():
        notes.append(f"no published time checks the model on a device such as {card.name}")
    if nearest(binds) is None:
        notes.append(f"fewer than {ENOUGH} published kernels are bound by {binds}: a wide range")
    return tuple(notes)


def _doubts(
    trace: Trace, program: Program, grid: tuple[int, int, int], run: Run
) -> tuple[str, ...]:
    """Return what makes an estimate doubtful, in words."""
    notes = []
    if program.unknown:
        notes.append(f"opcodes that are not known: {', '.join(program.unknown)}")
    if any(op.pipe == "tensor" for op in program.ops):
        notes.append("no published time checks the model's tensor cores: a wide range")
    if any(op.access == "atomic" for op in program.ops):
        notes.append("atomics are modelled roughly: a wide range")
    if program.missed > MISSED and program.repeats:
        notes.append(
            f"on {trace.place(program.missed_on)} the machine code's work is "
            f"{100 * program.missed:.0f} % off what the trace counted: a wide range"
        )
    notes += doubts(trace)
    notes += _scattered(trace, program, run)
    if sharing_unseen(trace, grid):
        notes.append(
            "one block was traced, with arrays for it alone, so nobody knows what blocks share: "
            "a wide range"
        )
    if program.longer > 1 and program.loop is None:
        notes.append("no loop is left in the machine code that could be longer: a wide range")
    if run.raised_by:
        notes.append(
            f"from its first rounds it would be faster than {run.raised_by} can be, which takes "
            "at least this time: a wide range"
        )
    return tuple(notes)
