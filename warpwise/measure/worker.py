"""One suite in a process of its own: an error that ends the device's context, or a kernel that never ends, costs that suite alone.

    python -m warpwise.measure.worker SUITE FILE [quick] [rehearsal]

Writes the record to FILE as it grows, so that what was measured is kept whatever comes next, and prints each case's name as it begins.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from warpwise.errors import MeasureError
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place, in_simulator, on_gpu

NEEDS = "needs compute capability"
SECONDS_UNWRITTEN = 5.0
NOT_MEASURED = 3  # the exit status where there is no GPU to measure


def rows_of(place: Place, timer: Any, case: Case) -> Iterator[dict[str, Any]]:
    """A row for each variant: checked, and timed if it is right."""
    from warpwise.measure.checked import wanted, worst_error
    from warpwise.measure.timing import one_line

    errors, problems = {}, {}
    try:
        want = wanted(place, case)
    except Exception as error:  # a library's, such as one without cuBLAS: nothing is timed that was not checked
        yield from (row(case, variant, [], None, f"what is right is not known: {one_line(error)}") for variant in case.variants)
        return
    for variant in case.variants:
        if place.compute_capability < variant.capability:
            problems[variant.name] = "{} {}.{}".format(NEEDS, *variant.capability)
            continue
        try:
            errors[variant.name] = worst_error(place, case, variant, want) if want and variant.result else None
        except Exception as error:  # a compiler's, a driver's or a library's: the other variants go on
            problems[variant.name] = str(error) if isinstance(error, MeasureError) else one_line(error)
    right = [variant for variant in case.variants if variant.name not in problems]
    samples, failed = timer.samples(case, right)
    for variant in case.variants:
        problem = problems.get(variant.name) or failed.get(variant.name, "")
        yield row(case, variant, samples.get(variant.name, []), errors.get(variant.name), problem)


def row(case: Case, variant: Variant, samples: list[float], worst_error: float | None, problem: str) -> dict[str, Any]:
    """One variant of one case as it is written. ``worst_error``: of the result, as a share of what the case allows."""
    moved, flops = (getattr(case if getattr(variant, name) is None else variant, name) for name in ("bytes", "flops"))
    told = {
        "case": case.name, "variant": variant.name, "by": variant.by, "parameters": dict(case.parameters), "bytes": moved, "flops": flops,
        "steps": case.steps, "cold": case.cold, "repeat": case.repeat, "worst_error": worst_error, "note": variant.note,
        "problem": problem or ("" if samples else "no sample was taken"), "samples_ms": [round(sample, 7) for sample in samples],
    }  # fmt: skip
    if not samples:
        return told
    median = statistics.median(samples)
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else (median,) * 3
    seconds = median / 1000
    told |= {"median_ms": median, "quartiles_ms": [low, high]}
    told |= {"GB_per_s": moved / seconds / 1e9 if moved else None, "TFLOP_per_s": flops / seconds / 1e12 if flops else None}
    return told | {"ns_per_step": 1e9 * seconds / case.steps if case.steps else None}


def best(rows: Iterable[dict[str, Any]], value: str) -> float | None:
    """The largest of a value; None where no row has one."""
    return max((row[value] for row in rows if row.get(value)), default=None)


def measured(place: Place, name: str, command: str) -> Iterator[dict[str, Any]]:
    """The record of a suite, again after each case, growing. A suite with ``collect`` makes its rows itself."""
    from warpwise.measure import ceilings
    from warpwise.measure.machine import Clocks, bus, provenance
    from warpwise.measure.suites import suite
    from warpwise.measure.timing import PROTOCOL, Timer

    module, clocks, timer = suite(name), Clocks(bus=bus(place)), Timer(place)
    about = {"suite": name, "title": module.TITLE, **provenance(place), "command": command, "quick": place.quick, "protocol": PROTOCOL}
    about |= {"clocks": clocks.seen, "unfinished": "stopped before its end", "ceilings": {}, "rows": []}
    if hasattr(module, "collect"):
        yield about | {"rows": module.collect(place), "unfinished": ""}
        return
    limits = [row for case in ceilings.cases(place) for row in rows_of(place, timer, case)]
    about["ceilings"] = {"copy_GB_per_s": best(limits, "GB_per_s"), "ffma_TFLOP_per_s": best(limits, "TFLOP_per_s"), "rows": limits}
    for case in module.cases(place):
        print(case.name, flush=True)
        clocks.begin()
        about["rows"] += rows_of(place, timer, case)
        clocks.end()
        yield about
        del case
        _free(place)
    yield about | {"unfinished": ""}


def _free(place: Place) -> None:
    """Give back what the last case took of the device's memory."""
    gc.collect()
    if hasattr(place.xp, "get_default_memory_pool"):
        place.xp.get_default_memory_pool().free_all_blocks()
    if torch := vars(place).get("torch"):  # once it was asked for
        torch.cuda.empty_cache()


def write(record: dict[str, Any], path: Path) -> None:
    """Write a record whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    os.replace(beside, path)


def main(arguments: list[str]) -> int:
    name, path, *wishes = arguments
    os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")  # kernels of one thread are meant
    try:
        place = in_simulator() if "rehearsal" in wishes else on_gpu("quick" in wishes)
    except MeasureError as error:
        print(error, file=sys.stderr)
        return NOT_MEASURED
    try:
        _written(place, name, Path(path))
    except MeasureError as error:
        print(error, file=sys.stderr)
        return 1
    except Exception as error:
        if place.torch is None:
            raise
        _written(replace(place, peers=False), name, Path(path))
        print(f"measured without PyTorch, with which it ended: {type(error).__name__}: {error}".splitlines()[0], file=sys.stderr)
        return 1
    return 0


def _written(place: Place, name: str, path: Path) -> None:
    """Measure a suite, and write its record every few seconds, at its end, and where an error ends it."""
    command, record, last = os.environ.get("WARPWISE_MEASURE_COMMAND", f"warpwise measure {name}"), {}, 0.0
    try:
        for record in measured(place, name, command):
            if time.monotonic() > last + SECONDS_UNWRITTEN:
                write(record, path)
                last = time.monotonic()
    finally:
        if record:
            write(record, path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
