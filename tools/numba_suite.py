"""Run the tests that numba-cuda ships for itself, with `warpwise.cuda` in place of its simulator.

Each module of tests runs in a process of its own, here and in Numba's simulator: as it is, and with
`skip_on_cudasim` inert, so that tests run which Numba's simulator leaves out. What fails here is
listed in `tests/numba/failing.toml`, with its class and reason; a failure that is not listed there
is an error, as is a line of that file that nothing fails for any more.

    python tools/numba_suite.py                               a table by module
    python tools/numba_suite.py cudapy.test_atomics -v        and what each failing test said
    python tools/numba_suite.py --only warpwise --inert       one of the four columns
    python tools/numba_suite.py --write                       keep the table for the book
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path

from numba_plugin import ASKED, BEGUN, FAILED, FILE, NUMBA, PASSED, SKIPPED, WARPWISE, Job, Outcome
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

ROOT = Path(__file__).parents[1]
FAILING = ROOT / "tests/numba/failing.toml"
TABLE = ROOT / "tests/numba/table.json"
FOLDERS = ("core", "cudadrv", "cudapy", "cudasim", "doc_examples", "nocuda", "nrt")
MODULE_SECONDS = 600
PLUGINS = "numba_plugin no:cacheprovider no:xdist no:nbval no:hypothesispytest".split()
PYTEST = ["-q", "--continue-on-collection-errors", "-W", "ignore", *(f"-p{p}" for p in PLUGINS)]
UNSTEADY = ("limits", "unsteady")  # classes of tests that fail now and then
WELL = (0, 1, 2, 5)  # pytest's: all passed, some failed, some not collected, there were none


@dataclass(frozen=True, order=True)
class Way:
    """A way to run the tests: if ``skip_on_cudasim`` skips nothing, and in which simulator."""

    inert: bool
    simulator: str

    def __str__(self) -> str:
        return f"{self.simulator}{', inert' * self.inert}"


WAYS = tuple(Way(inert, simulator) for inert in (False, True) for simulator in (NUMBA, WARPWISE))
Found = Mapping[Way, Sequence[Outcome]]


def modules() -> list[str]:
    """Return the modules of tests, such as ``cudapy.test_atomics``."""
    package = importlib.util.find_spec("numba_cuda")
    if package is None or not package.origin:
        raise SystemExit("numba-cuda is not installed: python -m pip install -e '.[dev]'")
    tests = Path(package.origin).parent / "numba/cuda/tests"
    return sorted(f"{part}.{f.stem}" for part in FOLDERS for f in (tests / part).glob("test_*.py"))


def run(chosen: Sequence[str], way: Way, seconds: float = MODULE_SECONDS) -> list[Outcome]:
    """Run modules of tests in one process, or in several where a test ends one.

    That test has failed; the next process runs the rest."""
    done: list[Outcome] = []
    while True:
        found, ended = _run(chosen, way, [outcome.test for outcome in done], seconds)
        done += found
        if not ended:
            return done
        if not found or found[-1].outcome != FAILED:
            return [*done, Outcome(" ".join(chosen), FAILED, ended)]


def _run(
    chosen: Sequence[str], way: Way, without: list[str], seconds: float
) -> tuple[list[Outcome], str]:
    """Run one process; return what came of it, and why it ended early, if it did."""
    with tempfile.TemporaryDirectory() as here:
        for module in chosen:  # numba-cuda is imported by its name, which its folder has not
            stub = f"from numba.cuda.tests.{module} import *\n"
            (Path(here) / FILE.format(module.replace(".", "__"))).write_text(stub)
        file = Path(here) / "outcomes"
        job = Job(way.simulator, way.inert, list(chosen), without, str(file))
        command = [sys.executable, "-m", "pytest", *PYTEST, here]
        try:
            done = subprocess.run(
                command,
                env=_environment(job),
                cwd=here,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
            )
            said = (done.stderr or done.stdout).strip().splitlines()[-1:]
            ended = "" if done.returncode in WELL else f"exit status {done.returncode}: {said}"
        except subprocess.TimeoutExpired:
            ended = f"took more than {seconds:g} s"
        lines = file.read_text().splitlines() if file.exists() else []
    outcomes = [Outcome(**json.loads(line)) for line in lines]
    if outcomes and outcomes[-1].outcome == BEGUN:
        outcomes.append(Outcome(outcomes[-1].test, FAILED, ended))
    return [outcome for outcome in outcomes if outcome.outcome != BEGUN], ended


def _environment(job: Job) -> dict[str, str]:
    path = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"NUMBA_ENABLE_CUDASIM": "1", "WARPWISE_BACKEND": "simulator", "OMP_NUM_THREADS": "1"}
    return os.environ | own | {ASKED: json.dumps(asdict(job)), "PYTHONPATH": os.pathsep.join(path)}


# What is known to fail.


@dataclass(frozen=True)
class Known:
    """Tests that fail here, by a pattern, with the class of their failure and the reason."""

    kind: str
    reason: str
    pattern: str


def known_failures() -> list[Known]:
    """Read FAILING: a table by class, in it reasons with patterns of tests."""
    listed = tomllib.loads(FAILING.read_text("utf-8"))
    return [
        Known(kind, reason, pattern)
        for kind, reasons in listed.items()
        for reason, patterns in reasons.items()
        for pattern in patterns
    ]


def reason_of(outcome: Outcome, known: Iterable[Known]) -> Known | None:
    """Return the first entry that names a test; None for one that nobody expects to fail."""
    return next((one for one in known if fnmatchcase(outcome.test, one.pattern)), None)


def new_failures(outcomes: Iterable[Outcome], known: Sequence[Known]) -> list[Outcome]:
    return [o for o in outcomes if o.outcome == FAILED and reason_of(o, known) is None]


def stale(outcomes: Iterable[Outcome], known: Iterable[Known]) -> list[Known]:
    """Return the entries that name no failing test, though one that was run here."""
    ran = list(outcomes)
    failed = [o.test for o in ran if o.outcome == FAILED]
    return [
        one
        for one in known
        if one.kind not in UNSTEADY
        and any(fnmatchcase(o.test, one.pattern) for o in ran)
        and not any(fnmatchcase(test, one.pattern) for test in failed)
    ]


# The table.


def count(outcomes: Iterable[Outcome], outcome: str) -> int:
    return sum(one.outcome == outcome for one in outcomes)


def table(found: Mapping[str, Found], ways: Sequence[Way]) -> Table:
    """Lay out passed, failed and skipped tests by module and way."""
    shown = Table(
        "module", *map(str, ways), title="passed / failed / skipped", title_justify="left"
    )
    for module, by_way in found.items():
        shown.add_row(module, *(_counts(by_way[way]) for way in ways))
    totals = ([o for by_way in found.values() for o in by_way[way]] for way in ways)
    shown.add_section()
    shown.add_row("all", *map(_counts, totals))
    return shown


def _counts(outcomes: Sequence[Outcome]) -> str:
    return " / ".join(map(str, three(outcomes)))


def three(outcomes: Sequence[Outcome]) -> list[int]:
    return [count(outcomes, kind) for kind in (PASSED, FAILED, SKIPPED)]


def only_numba_passes(found: Mapping[str, Found]) -> list[Outcome]:
    """Return what fails here of the tests that Numba's simulator passes, each once."""
    failing: dict[str, Outcome] = {}
    for by_way in found.values():
        passes = {
            o.test
            for w, part in by_way.items()
            if w.simulator == NUMBA
            for o in part
            if o.outcome == PASSED
        }
        for way, part in by_way.items():
            if way.simulator == WARPWISE:
                failing |= {o.test: o for o in part if o.outcome == FAILED and o.test in passes}
    return list(failing.values())


def main() -> None:
    options = _options()
    ways = [way for way in WAYS if options.only in (None, way.simulator)]
    ways = [way for way in ways if options.inert is None or way.inert == options.inert]
    chosen = options.modules or modules()
    jobs = [(module, way) for module in chosen for way in ways]
    with ThreadPoolExecutor(options.workers) as pool:
        done = pool.map(lambda job: run([job[0]], job[1]), jobs)
        outcomes = dict(zip(jobs, tqdm(done, total=len(jobs), unit="module"), strict=True))
    found = {module: {way: outcomes[module, way] for way in ways} for module in chosen}
    console = Console(soft_wrap=True)
    console.print(table(found, ways))
    if options.json:
        told = [asdict(o) | asdict(way) for (_, way), part in outcomes.items() for o in part]
        options.json.write_text(json.dumps(told, indent=0))
    if options.write:
        TABLE.write_text(as_lines(kept(found)))
    sys.exit(_judge(console, found, options.verbose))


def kept(found: Mapping[str, Found]) -> dict[str, object]:
    """Return the table as the book shows it: passed, failed and skipped, by module and way."""
    rows = {
        module: {str(way): three(part) for way, part in by_way.items()}
        for module, by_way in found.items()
    }
    known, why = known_failures(), Counter[str]()
    for outcome in ran_here(found):
        one = reason_of(outcome, known) if outcome.outcome == FAILED else None
        why.update([f"{one.kind}: {one.reason}"] if one else [])
    return {"numba-cuda": version("numba-cuda"), "modules": rows, "failing": why}


def as_lines(data: Mapping[str, object]) -> str:
    """Return data as JSON, with a line for each item of a dictionary in it."""
    parts = []
    for name, value in data.items():
        text = json.dumps(value)
        if isinstance(value, dict):
            lines = (f"{json.dumps(key)}: {json.dumps(one)}" for key, one in value.items())
            text = "{\n" + ",\n".join(lines) + "\n}"
        parts.append(f"{json.dumps(name)}: {text}")
    return "{" + ",\n".join(parts) + "}\n"


def _judge(console: Console, found: Mapping[str, Found], verbose: bool) -> int:
    """Print what fails, and return 1 if some of it is not listed in FAILING, or that is stale."""
    known, here = known_failures(), ran_here(found)
    for outcome in here:
        if outcome.outcome == FAILED and verbose:
            console.print(f"{outcome.test}\n    {outcome.told}", markup=False)
    for outcome in only_numba_passes(found):
        why = reason_of(outcome, known)
        said = f"{why.kind}, {why.reason}" if why else "not listed"
        console.print(f"passes in Numba's simulator: {outcome.test} ({said})", markup=False)
    new, old = new_failures(here, known), stale(here, known)
    for outcome in new:
        console.print(f"not listed: {outcome.test}: {outcome.told[:200]}", markup=False)
    for one in old:
        console.print(f"nothing fails for it: {one.pattern}", markup=False)
    return 1 if new or old else 0


def ran_here(found: Mapping[str, Found]) -> list[Outcome]:
    """Return each test's outcome here, that with ``skip_on_cudasim`` inert if there are both."""
    last: dict[str, Outcome] = {}
    for by_way in found.values():
        for way in sorted(by_way):
            if way.simulator == WARPWISE:
                last |= {outcome.test: outcome for outcome in by_way[way]}
    return list(last.values())


def _options() -> argparse.Namespace:
    head, _, epilog = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=head, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", help="such as cudapy.test_atomics; all unless given")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what failing tests say")
    parser.add_argument("--only", choices=(NUMBA, WARPWISE), help="one simulator")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--inert", action="store_true", default=None, help="only with skip_on_cudasim inert"
    )
    how.add_argument("--as-is", dest="inert", action="store_false", help="only as they are")
    parser.add_argument(
        "-j", "--workers", type=int, default=os.cpu_count(), help="processes at a time"
    )
    parser.add_argument("--write", action="store_true", help=f"write the table to {TABLE.name}")
    parser.add_argument("--json", type=Path, help="write all outcomes to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
