"""Run one suite in a process of its own: a corrupted context or endless kernel costs only that.

    python -m warpwise.measure.worker SUITE FILE [quick] [rehearsal]

It writes the record to FILE as it grows, so that measurements survive a later failure, and prints
each case's name as it begins.
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

from warpwise.benchmark_records import predicted_times
from warpwise.errors import MeasureError
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place, in_simulator, on_gpu

NEEDS = "needs compute capability"
SECONDS_UNWRITTEN = 5.0
NOT_MEASURED = 3  # exit status without a GPU to measure


def rows_of(place: Place, timer: Any, case: Case) -> Iterator[dict[str, Any]]:
    """Yield a row for each variant, timed if its result is right."""
    from warpwise.measure.correctness import wanted, worst_error
    from warpwise.measure.timing import one_line

    errors: dict[str, float | None] = {}
    problems: dict[str, str] = {}
    try:
        want = wanted(place, case)
    except Exception as error:  # of a library, such as missing cuBLAS: no check, no timing
        problem = f"no expected result: {one_line(error)}"
        yield from (row(case, variant, [], None, problem) for variant in case.variants)
        return
    for variant in case.variants:
        if place.compute_capability < variant.capability:
            problems[variant.name] = "{} {}.{}".format(NEEDS, *variant.capability)
            continue
        checked = want and variant.result
        try:
            errors[variant.name] = worst_error(place, case, variant, want) if checked else None
        except MeasureError as error:
            problems[variant.name] = str(error)
        except Exception as error:  # of a compiler, driver or library: the other variants go on
            problems[variant.name] = one_line(error)
    right = [variant for variant in case.variants if variant.name not in problems]
    samples, failed = timer.samples(case, right)
    for variant in case.variants:
        problem = problems.get(variant.name) or failed.get(variant.name, "")
        yield row(case, variant, samples.get(variant.name, []), errors.get(variant.name), problem)


def row(
    case: Case, variant: Variant, samples: list[float], worst_error: float | None, problem: str
) -> dict[str, Any]:
    """Return the row of one variant; ``worst_error``: its error as a share of the tolerance."""
    moved, flops = (
        getattr(case if getattr(variant, name) is None else variant, name)
        for name in ("bytes", "flops")
    )
    told = {
        "case": case.name,
        "variant": variant.name,
        "by": variant.by,
        "parameters": dict(case.parameters),
        "bytes": moved,
        "flops": flops,
        "steps": case.steps,
        "cold": case.cold,
        "repeat": case.repeat,
        "worst_error": worst_error,
        "note": variant.note,
        "problem": problem or ("" if samples else "no sample was taken"),
        "samples_ms": [round(sample, 7) for sample in samples],
    }
    if not samples:
        return told
    median = statistics.median(samples)
    several = len(samples) > 1
    quartiles = statistics.quantiles(samples, n=4, method="inclusive") if several else [median] * 3
    seconds = median / 1000
    told |= {"median_ms": median, "quartiles_ms": quartiles[::2]}
    told |= {
        "GB_per_s": moved / seconds / 1e9 if moved else None,
        "TFLOP_per_s": flops / seconds / 1e12 if flops else None,
    }
    return told | {"ns_per_step": 1e9 * seconds / case.steps if case.steps else None}


def best(rows: Iterable[dict[str, Any]], value: str) -> float | None:
    """Return the largest of a value; None if no row has one."""
    return max((row[value] for row in rows if row.get(value)), default=None)


def measured(place: Place, name: str, command: str) -> Iterator[dict[str, Any]]:
    """Yield the growing record of a suite after each case.

    A suite with ``collect`` makes its rows itself.
    """
    from warpwise.measure import ceilings
    from warpwise.measure.machine import Clocks, bus, provenance
    from warpwise.measure.suites import suite
    from warpwise.measure.timing import PROTOCOL, Timer

    module, clocks, timer = suite(name), Clocks(bus=bus(place)), Timer(place)
    about = {
        "suite": name,
        "title": module.TITLE,
        **provenance(place),
        "command": command,
        "quick": place.quick,
        "protocol": PROTOCOL,
        "clocks": clocks.seen,
        "unfinished": "stopped before its end",
        "ceilings": {},
        "rows": [],
    }
    if hasattr(module, "collect"):
        yield about | {"rows": module.collect(place), "unfinished": ""}
        return
    limits = [row for case in ceilings.cases(place) for row in rows_of(place, timer, case)]
    about["ceilings"] = {
        "copy_GB_per_s": best(limits, "GB_per_s"),
        "ffma_TFLOP_per_s": best(limits, "TFLOP_per_s"),
        "rows": limits,
    }
    predicted = predicted_times(place.name)
    for case in module.cases(place):
        print(case.name, flush=True)
        clocks.begin()
        for made in rows_of(place, timer, case):
            key = name, case.name, made["variant"]
            about["rows"].append(made | {"predicted_ms": predicted.get(key)})
        clocks.end()
        yield about
        del case
        _free(place)
    if hasattr(module, "reduced"):
        about["constants"] = module.reduced(about["rows"])
    yield about | {"unfinished": ""}


def _free(place: Place) -> None:
    """Free the device memory that the last case used."""
    gc.collect()
    if hasattr(place.xp, "get_default_memory_pool"):
        place.xp.get_default_memory_pool().free_all_blocks()
    if torch := vars(place).get("torch"):  # once it has been imported
        torch.cuda.empty_cache()


def write(record: dict[str, Any], path: Path) -> None:
    """Write a record atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    os.replace(beside, path)


def main(arguments: list[str]) -> int:
    name, path, *wishes = arguments
    # kernels of one thread are intended
    os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
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
        problem = f"{type(error).__name__}: {error}".splitlines()[0]
        print(f"measured without PyTorch, which ended the suite: {problem}", file=sys.stderr)
        return 1
    return 0


def _written(place: Place, name: str, path: Path) -> None:
    """Measure a suite and write its record every few seconds, at the end, and after an error."""
    command = os.environ.get("WARPWISE_MEASURE_COMMAND", f"warpwise measure {name}")
    record: dict[str, Any] = {}
    last = 0.0
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
