"""Predictions of the stopwatch for every suite, written down before a GPU measures any.

A variant's launches are taken before they run, at the sizes that a GPU gets; of each a few blocks
are traced, and their times added up. Of a suite with many sizes some are predicted, from the
smallest to the largest. Left out: libraries, of whose kernels nobody has the text; graphs;
latencies, which the model is given; and GPT-2's step: no few blocks stand for all of its attention,
and all of them are too many to be traced."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite, prod
from pathlib import Path
from typing import Any

from warpwise.benchmark_records import PREDICTED, folder, predicted_rows, slug
from warpwise.cuda.redirected import Asked, redirected
from warpwise.errors import MeasureError, TraceError, WarpwiseError
from warpwise.measure.case import Case, Variant
from warpwise.measure.machine import command, versions
from warpwise.measure.place import Place, modelled
from warpwise.measure.run import chosen
from warpwise.measure.suites import SUITES, suite
from warpwise.measure.worker import write
from warpwise.simt import trace
from warpwise.stopwatch import Card, Estimate, find
from warpwise.stopwatch.sharing import ends_and_middle

MOST_CASES = 2  #: of a suite, evenly spread: the first and the last, at least
BLOCKS_TRACED = 4
MOST_THREADS = 2**18  #: of a launch that is traced whole, where its blocks differ
#: Suites without times, of what the model is given and does not work out, or too large.
TIMELESS = ("counters", "latency", "constants", "gpt2")
OURS = "numba"  #: whose kernels they are, as variants say it


@dataclass
class Launches:
    """Predicts launches as they come; equal ones once. ``seconds``: of all, with the range."""

    card: Card
    known: dict[tuple[Any, ...], Estimate] = field(default_factory=dict)
    found: list[Estimate] = field(default_factory=list)

    def take(self, asked: Asked) -> None:
        arguments = tuple(map(_outline, asked.arguments))
        key = (asked.kernel, asked.grid, asked.block, asked.shared_bytes, arguments)
        if key not in self.known:
            self.known[key] = _estimate(asked, self.card)
        self.found.append(self.known[key])


def _outline(argument: Any) -> Any:
    """Return what of an argument decides the time: the layout of an array, or the number."""
    if hasattr(argument, "shape") and argument.shape:
        return str(argument.dtype), argument.shape, argument.strides
    return argument


def _estimate(asked: Asked, card: Card) -> Estimate:
    launch = asked.kernel, asked.grid, asked.block, *asked.arguments
    options: dict[str, Any] = {"shared_bytes": asked.shared_bytes, "sanitize": False}
    try:
        found: Estimate = trace(*launch, **options, blocks_traced=BLOCKS_TRACED).time(card)
    except TraceError:
        blocks = prod(asked.grid)
        if blocks * prod(asked.block) > MOST_THREADS:
            raise
        found = trace(*launch, **options, record=ends_and_middle(blocks)).time(card)
    return found


def about(case: Case, variant: Variant) -> dict[str, Any]:
    """Return what of a case and a variant a chart draws over, as in a measured row."""
    moved = case.bytes if variant.bytes is None else variant.bytes
    flops = case.flops if variant.flops is None else variant.flops
    return {
        "case": case.name,
        "variant": variant.name,
        "parameters": {k: v for k, v in case.parameters.items() if not isinstance(v, list)},
        "bytes": moved,
        "flops": flops,
        "steps": case.steps,
    }


def row_of(name: str, case: Case, variant: Variant, launches: Launches) -> dict[str, Any]:
    """Return the predicted time of one variant's run, or why there is none."""
    row = {"suite": name, **about(case, variant)}
    launches.found.clear()
    try:
        variant.run()
    except WarpwiseError as error:
        return row | {"problem": str(error).splitlines()[0]}
    found = launches.found
    longest = max(found, key=lambda one: one.seconds, default=None)
    if longest is None:
        return row | {"problem": "it launches no kernel of ours"}
    open_ended = next((one for one in found if not isfinite(one.high)), None)
    if open_ended is not None:
        return row | {"problem": open_ended.notes[0]}
    return row | {
        "predicted_ms": milliseconds(found),
        "launches": len(found),
        "binds": longest.binds,
        "family": longest.family,
        "notes": list(
            dict.fromkeys(n for one in found for n in one.notes if not n.startswith("A sample"))
        ),
    }


def milliseconds(found: Sequence[Estimate]) -> list[float]:
    """Return the time of launches after one another: [expected, least, most]."""
    times = (sum(getattr(one, part) for one in found) for part in ("seconds", "low", "high"))
    return [float(f"{1e3 * seconds:.4g}") for seconds in times]


def rows_of(name: str, place: Place, card: Card) -> Iterator[dict[str, Any]]:
    """Yield a row for each variant of ours in some cases of a suite."""
    launches = Launches(card)
    some = spread([case.name for case in _cases(name, place)])
    for case in _cases(name, place):
        if case.name in some:
            with redirected(launches.take):
                rows = [row_of(name, case, v, launches) for v in case.variants if v.by == OURS]
            yield from rows


def _cases(name: str, place: Place) -> Iterator[Case]:
    """Yield the cases with a kernel of ours; what a suite launches to prepare one is not run."""
    made = suite(name).cases(place)
    while True:
        with redirected(lambda asked: None):
            case = next(made, None)
        if case is None:
            return
        if any(variant.by == OURS for variant in case.variants):
            yield case


def spread(names: Sequence[str], most: int = MOST_CASES) -> tuple[str, ...]:
    """Return the first and the last of some names, and others evenly between."""
    steps = min(most, len(names)) - 1
    picked = (names[round(i * (len(names) - 1) / max(1, steps))] for i in range(steps + 1))
    return tuple(dict.fromkeys(picked))


def predicted(card: Card, names: Sequence[str], out: Path, how: str) -> Iterator[tuple[str, int]]:
    """Predict suites and write ``out``, which grows; yield each suite's name and its rows."""
    for name in names:
        if name in TIMELESS:
            continue
        rows = list(rows_of(name, modelled(card), card))
        put(card, how, rows, out)
        yield name, len(rows)


def put(card: Card, how: str, rows: Sequence[dict[str, Any]], out: Path) -> None:
    """Put rows into a device's file, in place of those of the same cases; others stay."""
    made = {(row["suite"], row["case"]) for row in rows}
    kept = [row for row in predicted_rows(out) if (row["suite"], row["case"]) not in made]
    write(record(card, how, [*kept, *rows]), out)


def written(
    device: str, names: Sequence[str], out: Path | None, arguments: Sequence[str]
) -> Iterator[str]:
    """Predict suites, all by default, and yield what there is to say, a line for each.

    Raises LaunchError for an unknown device, MeasureError for an unknown suite, or if none of
    them can be predicted."""
    card, wanted = find(device), chosen(names)
    path = path_of(card, out or folder())
    nothing = [f"{name}: there is nothing to predict" for name in names if name in TIMELESS]
    if set(wanted) <= set(TIMELESS):
        raise MeasureError("; ".join(nothing))
    yield from nothing
    for name, rows in predicted(card, wanted, path, command(list(arguments))):
        yield f"{name}: {rows} predictions"
    yield f"predictions: {path}"


def record(card: Card, how: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the contents of a file of predictions; ``how``: the command that made them."""
    return {
        "device": card.name,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": how,
        "versions": versions(),
        "constants": {
            "ghz": card.ghz,
            "l2_bytes_per_clock": card.l2_bytes_per_clock,
            "l2_latency": card.l2_latency,
            "dram_latency": card.dram_latency,
            **asdict(card.core),
        },
        "sources": card.sources,
        "rows": sorted(rows, key=lambda row: SUITES.index(row["suite"])),
    }


def path_of(card: Card, records: Path) -> Path:
    return records / PREDICTED / f"{slug(card.name)}.json"
