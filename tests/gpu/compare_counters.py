"""Compare the simulator's counters of the labs' solutions with Nsight Compute's on this GPU.

    PYTHONPATH=. python tests/gpu/compare_counters.py [--csv FILE]

Every solved kernel is launched as its lab's checks and hidden tests launch it, at most EACH times,
under ``ncu``; the record goes to ``measurements/<device>/lab_counters.json``. What a compiler
leaves out or joins, the source still says, so not all can agree. ``--csv``: ncu's output from
before, beside the record ``counters.json`` of the same machine, in place of a GPU."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(Path(__file__).resolve().parent)]

import compare_results  # noqa: E402
import solved_labs  # noqa: E402

from warpwise import trace  # noqa: E402
from warpwise.benchmark_records import EQUAL, folder, slug  # noqa: E402
from warpwise.measure import ncu  # noqa: E402
from warpwise.measure.patterns import name_of  # noqa: E402
from warpwise.measure.suites.counters import differences  # noqa: E402
from warpwise.measure.worker import write  # noqa: E402
from warpwise.simt import as_kernel  # noqa: E402

SUITE, TITLE = "lab_counters", "Counters of the labs' solutions beside Nsight Compute's"
EACH, MOST_THREADS = 3, 8192
#: The compiler's instructions are not the source's.
COMPARED = [name for name in ncu.METRICS if name != "warp_efficiency"]


@dataclass(frozen=True)
class Launched:
    """One launch of a solved kernel. ``case``: the lab and the kernel; ``label``: its arguments."""

    case: str
    label: str
    kernel: Any
    blocks: Any
    threads: Any
    args: tuple

    @property
    def function(self) -> str:
        return name_of(self.kernel)


def launches(place: Path) -> Iterator[Launched]:
    """Yield the launches to compare, a lab after the other. ``place``: a folder for labs' files."""
    for stem in solved_labs.stems():
        for job in compare_results.jobs_of(f"solutions/{stem}", place):
            if job.kernel is None or compare_results.is_model(job):
                continue
            small = [
                one
                for one in job.launches
                if compare_results.threads(one[1]) * compare_results.threads(one[2]) <= MOST_THREADS
            ]
            for label, blocks, threads, args in small[:EACH]:
                yield Launched(job.name, label, job.kernel, blocks, threads, args)


def row(one: Launched, found: ncu.Launch | None) -> dict[str, Any]:
    """Return a launch's row: counters modelled and measured, and which differ."""
    args = compare_results.copied(one.args)
    kernel = as_kernel(one.kernel)
    metrics = trace(kernel, one.blocks, one.threads, *args, record=(), sanitize=False).metrics
    modelled = {name: getattr(metrics, name) for name in COMPARED}
    measured = ncu.counters(found) if found else {}
    measured = {name: measured.get(name) for name in COMPARED}
    differ = differences(modelled, measured, even=False)
    return {
        "case": one.case,
        "variant": one.label,
        "by": "numba",
        "parameters": {
            "modelled": modelled,
            "measured": measured if found else None,
            "verdict": "differs: " + ", ".join(differ) if differ else EQUAL,
        },
        "problem": "" if found else "ncu shows no such launch",
    }


def record(found: list[ncu.Launch], about: dict[str, Any]) -> dict[str, Any]:
    """Return the record of all launches; ``about``: the device and its software."""
    with tempfile.TemporaryDirectory() as place:
        every = list(launches(Path(place)))
        beside = ncu.matched(found, [one.function for one in every])
        rows = [row(one, launch) for one, launch in zip(every, beside, strict=True)]
    return {"suite": SUITE, "title": TITLE, **about, "rows": rows}


def launch_all() -> None:
    """Launch every kernel on the GPU; this runs under ncu."""
    with tempfile.TemporaryDirectory() as place:
        for one in launches(Path(place)):
            compare_results.on_device(one.kernel, one.blocks, one.threads, one.args)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=TITLE)
    parser.add_argument("--launch", action="store_true", help="launch the kernels, nothing else")
    parser.add_argument("--csv", type=Path, help="ncu's output from before, beside counters.json")
    options = parser.parse_args(arguments)
    if options.launch:
        launch_all()
        return 0
    if options.csv:
        found = ncu.read_csv(options.csv.read_text("utf-8"))
        kept = json.loads((options.csv.parent / "counters.json").read_text("utf-8"))
        names = "device compute_capability sms driver cuda_runtime ncu python versions date"
        about = {name: kept[name] for name in names.split()}
    else:
        from warpwise.measure.machine import provenance
        from warpwise.measure.place import on_gpu

        about = provenance(on_gpu())
        found = ncu.profiled([sys.executable, __file__, "--launch"])
    made = record(found, about | {"command": "python tests/gpu/compare_counters.py"})
    path = folder() / slug(made["device"]) / f"{SUITE}.json"
    write(made, path)
    equal = sum(one["parameters"]["verdict"] == EQUAL for one in made["rows"])
    print(f"{equal} of {len(made['rows'])} launches count as the simulator does: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
