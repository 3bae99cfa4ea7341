"""Changes to where a kernel's lanes go: side by side in global memory, to banks of their own.

Costs of the changed accesses are those of the recorded ones with their addresses moved together:
lanes with one address still have one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from warpwise.metrics import BANK_BYTES, WARP_SIZE
from warpwise.stopwatch import engine, student_source
from warpwise.stopwatch.accesses import clocks, sectors
from warpwise.stopwatch.case import Case, Change
from warpwise.stopwatch.predict import Model
from warpwise.stopwatch.sass import Op

WORTH_A_RUN = 0.03  #: share of the time that a change must take off a resource to be tried
WASTEFUL = 1.5  #: sectors over the fewest, above which accesses are worth moving together
AS_MANY = 0.25  #: coalesced accesses over uncoalesced ones, from which both kinds count
REGULAR = 0.5  #: share of a warp's lanes that lie one stride from the lane before


def through_tile(columns: int) -> str:
    return (
        f"load and store along rows, and change rows for columns between: in a tile of "
        f"{columns + 1} columns for {columns}, so that neither has bank conflicts"
    )


def side_by_side(addresses: Sequence[int], width: int) -> list[int]:
    """Return a request for as many different elements, that lie next to one another."""
    place = {a: n for n, a in enumerate(sorted({a // width for a in addresses if a >= 0}))}
    return [width * place[a // width] if a >= 0 else -1 for a in addresses]


def regular(addresses: Sequence[int]) -> bool:
    """Return whether most lanes lie one stride apart, so that an index decides where."""
    active = [a for a in addresses if a >= 0]
    steps = Counter(b - a for a, b in pairwise(active))
    return not steps or max(steps.values()) >= REGULAR * (len(active) - 1)


@dataclass(frozen=True)
class Ideal:
    """What requests of an instruction would cost side by side: clocks, and sectors."""

    clocks: float
    in_shared_memory: float  #: clocks, if they were there
    sectors: float
    touched: float  #: sectors that they touch now

    @property
    def wasteful(self) -> bool:
        return self.touched > WASTEFUL * self.sectors


def ideal_of(case: Case, op: Op, line: int) -> Ideal | None:
    """Return the least cost of an instruction's requests; None where nothing was recorded, or it
    follows no pattern."""
    kind = "load" if op.access == "copy" else op.access
    found = case.run.costs.requests.get((line, op.space, kind))
    if not found or op.name in ("LDSM", "STSM"):
        return None
    requests, key = [addresses for addresses, _ in found], (line, op.space, kind, op.width)
    ideal: Ideal | None = case.once(key, lambda: _worked_out(case, requests, op.width, op.space))
    return ideal


def _worked_out(
    case: Case, requests: Sequence[tuple[int, ...]], width: int, space: str
) -> Ideal | None:
    if not all(map(regular, requests)):
        return None
    moved = [side_by_side(a, width) for a in requests]
    cut = [[b // width * width if b >= 0 else -1 for b in a] for a in requests]
    return Ideal(
        mean([clocks(a, width, space, case.card.core) for a in moved]),
        mean([clocks(a, width, "shared", case.card.core) for a in moved]),
        mean([len(sectors(a, width)) for a in moved]),
        mean([len(sectors(a, width)) for a in cut]),
    )


@dataclass(frozen=True)
class _Together:
    """Accesses moved together: which, their columns then, and what that saves."""

    moved: tuple[int, ...]
    lsu: np.ndarray
    sectors: np.ndarray
    dram: np.ndarray
    saved: np.ndarray

    def of(self, case: Case) -> Model:
        """Return the launch with these columns."""
        return case.changed(lsu=self.lsu, sectors=self.sectors, dram=self.dram)


def coalesced(case: Case) -> Iterator[Change]:
    """Yield loads, and stores, of global memory with neighbouring lanes at neighbours; both in one
    where both are scattered."""
    kinds = {"loads from": ("load", "copy"), "stores to": ("store",)}
    found = {words: _together(case, accesses) for words, accesses in kinds.items()}
    worth = [words for words, one in found.items() if case.spent(one.saved) >= WORTH_A_RUN]
    if len(worth) == 2:
        both = _together(case, ("load", "copy", "store"))
        words = "coalesced loads from and stores to global memory"
        lines = _lines(case, both)
        yield Change(words, lines, both.of(case), student_source.side_by_side(case.trace, lines))
        return
    for words in worth:
        others = [accesses for other, accesses in kinds.items() if other != words]
        yield _coalesced(case, f"coalesced {words} global memory", found[words], others[0])


def _together(case: Case, accesses: tuple[str, ...]) -> _Together:
    """Return accesses of global memory whose lanes lie apart, as they are side by side."""
    table, rates = case.table, case.run.rates
    lsu, l2, dram = table.lsu.copy(), table.sectors.copy(), table.dram.copy()
    apart = [i for i in case.numbers(*accesses, space="global") if _is_wasteful(case, i)]
    for i in apart:
        ideal = ideal_of(case, case.ops[i], case.program.lines[i])
        assert ideal is not None
        lsu[i] = min(lsu[i], ideal.clocks)
        l2[i], dram[i] = min(l2[i], ideal.sectors), min(dram[i], ideal.sectors)
    outside = np.maximum((table.sectors - l2) * rates[0], (table.dram - dram) * rates[1])
    return _Together(tuple(apart), lsu, l2, dram, np.maximum(table.lsu - lsu, outside))


def _lines(case: Case, made: _Together) -> tuple[int, ...]:
    return case.lines(made.saved[: len(case.ops)] * case.times)


def _coalesced(case: Case, words: str, made: _Together, others: tuple[str, ...]) -> Change:
    """Return loads or stores side by side: through a tile, if the others are side by side now."""
    lines, apart, lsu = _lines(case, made), list(made.moved), made.lsu.copy()
    if not _in_turn(case, apart, case.numbers(*others, space="global")):
        how = student_source.side_by_side(case.trace, lines)
        return Change(words, lines, made.of(case), how)
    lsu[apart] += 2 * case.table.lsu[apart].clip(max=_plain_clocks(case))
    model = replace(made, lsu=lsu).of(case)
    wait = 2 * (model.sm.latencies[0] + engine.BARRIER_CLOCKS) / case.run.slots
    through = replace(model, wait=model.busy_sm * wait)
    how = through_tile(student_source.tile_width(case.trace))
    return Change(f"{words}, through a tile in shared memory", lines, through, how)


def _is_wasteful(case: Case, i: int) -> bool:
    ideal = ideal_of(case, case.ops[i], case.program.lines[i])
    return ideal is not None and ideal.wasteful


def _in_turn(case: Case, apart: Sequence[int], others: Sequence[int]) -> bool:
    """Return whether accesses of the other kind are side by side now, and as many: with threads
    that change places these would be apart."""
    side = [i for i in others if not _is_wasteful(case, i) and _many(case, i)]
    return float(sum(case.times[side])) >= AS_MANY * float(sum(case.times[list(apart)]))


def _many(case: Case, i: int) -> bool:
    """Return whether a request is of several sectors, and not of one element for all lanes."""
    ideal = ideal_of(case, case.ops[i], case.program.lines[i])
    return ideal is not None and ideal.sectors > 1


def _plain_clocks(case: Case) -> float:
    return clocks([4 * lane for lane in range(WARP_SIZE)], 4, "shared", case.card.core)


def conflict_free(case: Case) -> Iterator[Change]:
    """Yield loads, and stores, of shared memory in which no two lanes need one bank."""
    for words, kind in (
        ("conflict-free loads from shared memory", "load"),
        ("conflict-free stores to shared memory", "store"),
    ):
        lsu = case.table.lsu.copy()
        for i in case.numbers(kind, space="shared"):
            ideal = ideal_of(case, case.ops[i], case.program.lines[i])
            if ideal:
                lsu[i] = min(lsu[i], ideal.clocks)
        saved = case.table.lsu - lsu
        if case.spent(saved) >= WORTH_A_RUN:
            lines = case.lines(saved[: len(case.ops)] * case.times)
            yield Change(words, lines, case.changed(lsu=lsu), _padded(case, lines, kind))


def _padded(case: Case, lines: Sequence[int], kind: str) -> str:
    """Return how lanes get banks of their own: a longer row, where an array has rows of whole
    rounds of the banks."""
    asked = case.run.costs.requests
    names = dict.fromkeys(n for line in lines for _, n in asked.get((line, "shared", kind), ()))
    for info in case.trace.arrays:
        words = info.shape[-1] * info.itemsize / BANK_BYTES if len(info.shape) > 1 else 1
        if info.name in names and words % 2 == 0:
            return f"give rows of {info.name} {info.shape[-1] + 1} elements for {info.shape[-1]}"
    return "let lanes read neighbouring words, or leave one word free after every 32"


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
