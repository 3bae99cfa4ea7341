"""Changes to what warps do: other arithmetic, whole warps, work spread evenly, larger tiles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.stopwatch import engine, student_source
from warpwise.stopwatch.case import Case, Change
from warpwise.stopwatch.evidence import warps_on
from warpwise.stopwatch.sass import Op
from warpwise.stopwatch.units import ARITHMETIC_CLOCKS
from warpwise.stopwatch.walks import Walks, without
from warpwise.traces import KINDS, Trace

INTEGERS = 0.4  #: share of a warp's instructions from which integers are in the way
BUSY_ENOUGH = 0.3  #: share of the time from which a pipe's work is worth changing
DOUBLES = 0.05  #: share of the time from which float64 is; it brings conversions, too
PARTED = 0.75  #: warps that would hold a line's active lanes, over those that run it
SAMPLES = 256  #: passes through a line that are looked at
UNEVEN = 4.0  #: a warp's passes through a line between barriers, over those of the average warp
WAITED = 0.1  #: share of waiting from which barriers are worth a change
REUSED = 8.0  #: loads from shared memory for each store there from which tiles pay
LOADS_PER_FMA = 0.75  #: numbers; below it a thread's own tile is large enough
ONE_RESULT = 1.5  #: numbers for each product, above which a thread has one result
FLOAT32 = "float32 arithmetic instead of float64"
_FUNCTIONS = {
    "EX2": "exp",
    "LG2": "log",
    "SIN": "sin",
    "COS": "cos",
    "RSQ": "square root",
    "SQRT": "square root",
    "RCP": "division",
    "TANH": "tanh",
}


def less_indexing(case: Case) -> Iterator[Change]:
    """Yield half of the integer arithmetic, where floats are computed and it is in the way.

    As with indices of 32 bits without a sign: a sum of 64 bits takes two instructions, the second
    with what the first carries, and a negative index would count from the array's end."""
    issues = max(case.busy.get("issue slots", 0.0), case.busy.get("integer arithmetic", 0.0))
    numbers = [
        [i for i in block if case.times[i] and _is_integer(case.ops[i])]
        for block in case.program.flow.blocks
    ]
    every = [i for block in numbers for i in block]
    share = case.times[every].sum() / case.times.sum()
    floats = case.trace.metrics.flops or all(
        info.dtype.startswith("float") for info in case.trace.arrays
    )
    wide = any(carried in case.ops[i].text for i in every for carried in (".X", ".EX"))
    if issues < BUSY_ENOUGH * 2 or share < INTEGERS or not floats or not wide:
        return
    gone = np.array([i for block in numbers for i in block[1::2]], int)
    weights = np.zeros(len(case.ops))
    weights[every] = case.times[every]
    lines = case.lines(weights)
    how = "make indices np.uint32: one instruction in place of two, and no test for negative ones"
    if student_source.counts_with_range(case.trace, lines):
        how += "; range() counts in 64 bits, so count with while and j = np.uint32(j + 1)"
    model = case.changed(without(case.program, gone))
    yield Change("half the index arithmetic", lines, model, how)


def _is_integer(op: Op) -> bool:
    return op.pipe in ("alu", "imad") and not op.name.startswith(("H", "F"))


def in_float32(case: Case) -> Iterator[Change]:
    """Yield float64 arithmetic in float32, on its pipe and with its latency."""
    table, n = case.table, len(case.ops)
    doubles = np.flatnonzero(table.kind[:n] == engine.FP64)
    if case.busy.get("float64 arithmetic", 0.0) < DOUBLES or not len(doubles):
        return
    kind, held, latencies = table.kind.copy(), table.clocks.copy(), table.latencies.copy()
    kind[doubles] = engine.FP32
    held[doubles], latencies[doubles] = ARITHMETIC_CLOCKS, case.card.core.arithmetic_latency
    conversions = [i for i, op in enumerate(case.ops) if op.name == "F2F" and "F64" in op.text]
    columns = {"kind": kind, "clocks": held, "latencies": latencies} | _halved(case)
    weights = np.zeros(n)
    weights[doubles] = table.clocks[doubles] * case.times[doubles]
    model = case.changed(without(case.program, np.array(conversions, int)), **columns)
    lines = case.lines(weights)
    how = student_source.in_float32(case.trace, lines)
    how += ", and make arrays of float32" if of_float64(case.trace) else ""
    yield Change(FLOAT32, lines, model, how)


def of_float64(trace: Trace) -> bool:
    """Return whether a kernel has an array of float64."""
    return any(info.dtype == "float64" for info in trace.arrays)


def _halved(case: Case) -> dict[str, np.ndarray]:
    """Return the costs of accesses of 8 bytes, if arrays are float64, as those of half the size."""
    wide = [i for i, op in enumerate(case.ops) if op.access in ("load", "store") and op.width == 8]
    if not wide or not of_float64(case.trace):
        return {}
    lsu, l2, dram = (a.copy() for a in (case.table.lsu, case.table.sectors, case.table.dram))
    lsu[wide] = np.maximum(1.0, lsu[wide] / 2)
    l2[wide] = np.where(l2[wide] > 0, l2[wide] / 2, l2[wide])
    dram[wide] /= 2
    return {"lsu": lsu, "sectors": l2, "dram": dram}


def fewer_special(case: Case) -> Iterator[Change]:
    """Yield half as many special functions, as where one value serves two."""
    special = [i for i, op in enumerate(case.ops) if op.name == "MUFU" and case.times[i]]
    if case.busy.get("special functions", 0.0) < BUSY_ENOUGH or not special:
        return
    held, weights, gone = case.table.clocks.copy(), np.zeros(len(case.ops)), _every_second(case)
    alone = [i for i in special if i not in gone]
    both = sum(case.times[special]) / 2 - sum(case.times[[i for i in special if i in gone]])
    held[alone] *= 1 - both / max(1.0, sum(case.times[alone]))
    weights[special] = case.times[special]
    names = {part for i in special for part in case.ops[i].text.replace(" ", ".").split(".")}
    words = sorted({_FUNCTIONS[name] for name in names if name in _FUNCTIONS})
    named = f" ({', '.join(words)})" if words else ""
    model = case.changed(without(case.program, np.array(sorted(gone), int)), clocks=held)
    how = "keep a value that is needed twice, and multiply by what you would divide by often"
    yield Change(f"half as many special functions{named}", case.lines(weights), model, how)


def _every_second(case: Case) -> set[int]:
    """Return every second instruction of each kind that stands with a special function.

    A compiler that unrolls a loop has several of each; sums, which stay, are not among them."""
    gone: set[int] = set()
    for block in case.program.flow.blocks:
        alike: dict[tuple[int, str], list[int]] = defaultdict(list)
        for i in block:
            op = case.ops[i]
            if not op.access and op.pipe in ("fp32", "alu", "imad", "special"):
                alike[case.program.lines[i], op.name].append(i)
        for (line, name), numbers in alike.items():
            if len(alike.get((line, "MUFU"), ())) > 1 and name not in ("FADD", "FFMA"):
                gone.update(numbers[1::2])
    return gone


def whole_warps(case: Case) -> Iterator[Change]:
    """Yield each way that lanes take in as few warps as can hold them."""
    warps, n = len(case.program.kinds_of_warps), len(case.ops)
    parted = {k: rows for k, rows in _active(case).items() if _needed(rows) < PARTED}
    if warps < 2 or not parted:
        return
    shares, first = np.ones((warps, 2 * n)), 0
    lines, places = np.array(case.program.lines), dict[bytes, np.ndarray]()
    for line, rows in parted.items():
        own = [i for i in np.flatnonzero(lines == line) if case.ops[i].pipe not in _STAY]
        numbers = np.array([*own, *(i + n for i in own)], int)
        if not (rows == rows[0]).all():  # now these lanes, now those: all warps do a part
            shares[:, numbers] = _needed(rows)
            continue
        key = rows[0].tobytes()
        if key not in places:
            needed = -(-int(rows[0].sum()) // WARP_SIZE)
            places[key] = (first + np.arange(needed)) % warps
            first += needed
        others = np.setdiff1d(np.flatnonzero(warps_on(rows)[0]), places[key])
        shares[np.ix_(others, numbers)] = 0
    walks = Walks(case.program.kinds_of_warps, shares, np.arange(warps))
    saved = case.program.executions - walks.executions(case.program)
    how = "decide by threadIdx.x // 32, or sort the work so that neighbours do the same"
    yield Change("whole warps that go one way", case.lines(saved), case.changed(walks), how)


_STAY = ("control", "barrier")


def _active(case: Case) -> dict[int, np.ndarray]:
    """Return the active lanes of the first block's threads, each time that it runs a line."""
    r, found = case.trace.records, dict[int, np.ndarray]()
    issues = r.of_first_block & (r.kind == KINDS.index("issue")) & r.active.any(axis=1)
    for line in np.unique(r.line[issues]).tolist():
        rows = r.active[issues & (r.line == line)]
        found[line] = rows[:: len(rows) // SAMPLES | 1]
    return found


def _needed(rows: np.ndarray) -> float:
    """Return the warps that would hold the active lanes over those that have some."""
    fewest = -(-rows.sum(axis=1) // WARP_SIZE)
    return float(fewest.sum() / warps_on(rows).sum())


def spread_evenly(case: Case) -> Iterator[Change]:
    """Yield what one warp does between two barriers, and others wait for, as work of them all."""
    if case.waits.get("barrier", 0.0) < WAITED:
        return
    uneven = _uneven(case)
    if not uneven:
        return
    warps = len(case.program.kinds_of_warps)
    busiest = int(np.argmax(case.program.counts.sum(axis=1)))
    shares = np.ones((1, 2 * len(case.ops)))
    lines = np.array(case.program.lines * 2)
    for line, share in uneven.items():
        shares[0, lines == line] = share
    walks = Walks(np.array([busiest]), shares, np.zeros(warps, np.int64))
    weights = case.program.counts[busiest] * (1 - shares[0])
    words = "the work of a few warps, for which others wait at a barrier, spread over all"
    how = "let every thread take a part of the loop, and add the parts up in steps of two"
    yield Change(words, case.lines(weights), case.changed(walks), how)


def _uneven(case: Case) -> dict[int, float]:
    """Return lines that a warp passes much more often between two barriers than the average one,
    with all its lanes, and the average over the most passes."""
    r = case.trace.records
    first = np.flatnonzero(r.of_first_block)
    kinds, lines, on = r.kind[first], r.line[first], warps_on(r.active[first])
    whole = r.active[first].sum(axis=1) == WARP_SIZE * on.sum(axis=1)
    issues = whole & (kinds == KINDS.index("issue"))
    found: dict[int, float] = {}
    start = 0
    for end in np.flatnonzero(kinds == KINDS.index("barrier")).tolist():
        own = start + np.flatnonzero(issues[start:end])
        for line in np.unique(lines[own]).tolist():
            passes = on[own[lines[own] == line]].sum(axis=0)
            if passes.max() >= UNEVEN * max(1.0, passes.mean()):
                found[line] = float(passes.mean() / passes.max())
        start = end
    return found


def two_by_two(case: Case) -> Iterator[Change]:
    """Yield each thread with two by two results, so that what it loads serves twice."""
    loads = case.numbers("load", space="shared")
    lines = {case.program.lines[i] for i in loads}
    m = case.trace.metrics
    reused = m.shared_load_bytes >= REUSED * max(1, m.shared_store_bytes)
    products = [i for i, op in enumerate(case.ops) if op.name == "FFMA"]
    loaded = sum(case.times[i] * case.ops[i].width / 4 for i in loads)
    fmas = float(case.times[products].sum())
    together = any(case.program.lines[i] in lines for i in products)
    if not (loads and reused and together and loaded >= LOADS_PER_FMA * fmas > 0):
        return
    if m.shared_bank_conflicts > m.shared_load_requests:
        return
    weights = np.zeros(len(case.ops))
    weights[loads] = case.table.lsu[loads] * case.times[loads]
    model = case.changed(without(case.program, np.array(loads[1::2], int)))
    tile = (
        "2 by 2 results in a thread" if loaded > ONE_RESULT * fmas else "larger tiles in a thread"
    )
    how = (
        "keep several sums in registers, and load each row's and column's value once for them: a "
        "block's tile is then twice as wide and as high, and a quarter of the blocks remain"
    )
    words = f"{tile}, so that a loaded value serves twice as often"
    yield Change(words, case.lines(weights), model, how)


def fewer_barriers(case: Case) -> Iterator[Change]:
    """Yield every second barrier left out, where a loop has two or more."""
    inside = {n for a, b in case.program.flow.loops() for n in range(a, b + 1)}
    barriers = [
        i
        for n, block in enumerate(case.program.flow.blocks)
        for i in block
        if n in inside and case.ops[i].name == "BAR" and case.times[i]
    ]
    if case.waits.get("barrier", 0.0) < WAITED or len(barriers) < 2:
        return
    weights = np.zeros(len(case.ops))
    weights[barriers] = case.times[barriers]
    model = case.changed(without(case.program, np.array(barriers[1::2], int)))
    how = "fill one of two tiles while the other is read"
    yield Change("half as many barriers", case.lines(weights), model, how)
