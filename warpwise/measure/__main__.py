"""``python -m warpwise.measure``: ``warpwise measure`` in plain lines.

It needs only NumPy, Numba-CUDA and CuPy.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from warpwise import benchmark_records
from warpwise.benchmark_records import Record
from warpwise.errors import WarpwiseError
from warpwise.measure import run, summary
from warpwise.measure.machine import command
from warpwise.measure.place import SIMULATOR
from warpwise.measure.suites import SUITES


def main(arguments: list[str]) -> int:
    name, about = "python -m warpwise.measure", "Measure this machine's GPU."
    parser = argparse.ArgumentParser(name, description=about)
    suites = f"suites to run, all by default: {', '.join(SUITES)}"
    rehearse = "without a GPU: run every kernel small, in the simulator"
    folder = "folder for records, the checkout's measurements/ by default"
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=suites)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller sizes")
    parser.add_argument("--rehearse", action="store_true", help=rehearse)
    parser.add_argument("--out", type=Path, help=folder)
    options = parser.parse_args(arguments)
    records = Path("_build/rehearsal") if options.rehearse else benchmark_records.folder()
    out = options.out or records
    settings = run.Settings(out, options.quick, options.rehearse, command(["measure", *arguments]))
    try:
        outcomes = [printed(outcome) for outcome in run.run(options.suites, settings, begun)]
    except WarpwiseError as error:
        print(error, file=sys.stderr)
        return 2
    wrong = (
        *(f"{o.suite}: {o.problem}" for o in outcomes if o.problem),
        *summary.problems(o.record for o in outcomes if o.record),
    )
    print(*wrong, sep="\n")
    return int(bool(wrong))


def begun(suite: str, case: str) -> None:
    print(f"{suite}: {case}", flush=True)


def printed(outcome: run.Outcome) -> run.Outcome:
    """Print the outcome of a suite and return it."""
    if outcome.record:
        print(*map("  ".join, of_record(outcome.record)), sep="\n", flush=True)
    if outcome.stays:
        print(f"{outcome.suite}: kept the earlier record, which is {outcome.stays}", flush=True)
    return outcome


def of_record(record: Record) -> list[tuple[str, ...]]:
    if record.device == SIMULATOR:
        return [*summary.results(record)]
    bars = [
        (one.bar.what, "beside", one.bar.beside, f"{one.ratio or 0:.2f}", one.verdict)
        for one in summary.reached(record)
    ]
    return [*summary.lines(record), *bars]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
