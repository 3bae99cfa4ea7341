"""``python -m warpwise.measure``: ``warpwise measure`` in plain lines, for a machine with NumPy, Numba-CUDA and CuPy and nothing more."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from warpwise import measurements
from warpwise.errors import WarpwiseError
from warpwise.measure import run, summary
from warpwise.measure.machine import command
from warpwise.measure.place import SIMULATOR
from warpwise.measure.suites import SUITES
from warpwise.measurements import Record


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m warpwise.measure", description="Measure this machine's GPU.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"which suites, all if none is named: {', '.join(SUITES)}")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer of them")
    parser.add_argument("--rehearse", action="store_true", help="without a GPU: run every kernel small, in the simulator")
    parser.add_argument("--out", type=Path, help="where records go; the checkout's measurements/ if left out")
    options = parser.parse_args(arguments)
    out = options.out or (Path("_build/rehearsal") if options.rehearse else measurements.folder())
    settings = run.Settings(out, options.quick, options.rehearse, command(["measure", *arguments]))
    try:
        outcomes = [told(outcome) for outcome in run.run(options.suites, settings, begun)]
    except WarpwiseError as error:
        print(error, file=sys.stderr)
        return 2
    wrong = (*(f"{o.suite}: {o.problem}" for o in outcomes if o.problem), *summary.problems(o.record for o in outcomes if o.record))
    print(*wrong, sep="\n")
    return int(bool(wrong))


def begun(suite: str, case: str) -> None:
    print(f"{suite}: {case}", flush=True)


def told(outcome: run.Outcome) -> run.Outcome:
    """Print what came of a suite."""
    if outcome.record:
        print(*map("  ".join, of_record(outcome.record)), sep="\n", flush=True)
    if outcome.stays:
        print(f"{outcome.suite}: the earlier record stays, which is {outcome.stays}", flush=True)
    return outcome


def of_record(record: Record) -> list[tuple[str, ...]]:
    if record.device == SIMULATOR:
        return [*summary.results(record)]
    bars = [(one.bar.what, "beside", one.bar.beside, f"{one.ratio or 0:.2f}", one.verdict) for one in summary.reached(record)]
    return [*summary.lines(record), *bars]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
