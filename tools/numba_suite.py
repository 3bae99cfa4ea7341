"""Run the tests that numba-cuda ships for itself, with `warpwise.cuda` in place of its simulator.

Each module of tests runs in a process of its own, beside Numba's simulator on the same tests: once
as they are, and once with `skip_on_cudasim` inert. `tests/numba/failing.toml` lists what fails
here, with its class and reason.

    python tools/numba_suite.py                     a table by module
    python tools/numba_suite.py cudapy.test_atomics -v      with what each failing test said
    python tools/numba_suite.py --only warpwise --inert     one of the four columns
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from tqdm import tqdm

FAILING = Path(__file__).parents[1] / "tests/numba/failing.toml"
FOLDERS = ("core", "cudadrv", "cudapy", "cudasim", "doc_examples", "nocuda", "nrt")
NUMBA, WARPWISE = "numba", "warpwise"
PASSED, FAILED, SKIPPED, BEGUN = "passed", "failed", "skipped", "begun"
ASKED = "WARPWISE_NUMBA_SUITE"  # the variable that holds a worker's job
PLAIN = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore")
TEST_SECONDS = 20
MODULE_SECONDS = 600
MEMORY_BYTES = 6 << 30


@dataclass(frozen=True)
class Outcome:
    """What came of one test: ``test`` is its name below ``numba.cuda.tests``."""

    test: str
    outcome: str
    told: str = ""


@dataclass(frozen=True)
class Way:
    """A way to run the tests: in which simulator, and if ``skip_on_cudasim`` skips nothing."""

    simulator: str
    inert: bool


WAYS = tuple(Way(simulator, inert) for inert in (False, True) for simulator in (NUMBA, WARPWISE))


@dataclass(frozen=True)
class Job(Way):
    """What a worker does: without these tests, its outcomes written to ``file``."""

    module: str
    without: list[str]
    file: str
    found = Outcome("", PASSED)  #: of the test that runs

    @staticmethod
    @functools.cache
    def asked() -> Job:
        return Job(**json.loads(os.environ[ASKED]))


def folder() -> Path:
    """Return the folder of the installed package's tests, found without importing it."""
    found = importlib.util.find_spec("numba_cuda")
    if found is None or not found.origin:
        raise SystemExit("numba-cuda is not installed: pip install 'numba-cuda[cu13]'")
    return Path(found.origin).parent / "numba/cuda/tests"


def modules() -> list[str]:
    """Return the modules of tests, such as ``cudapy.test_atomics``."""
    return sorted(
        f"{part}.{file.stem}" for part in FOLDERS for file in (folder() / part).glob("test_*.py")
    )


def run(module: str, way: Way, seconds: float = MODULE_SECONDS) -> list[Outcome]:
    """Run one module of tests in a process of its own.

    If that ends early, the test that it was at has failed and the rest are run in another."""
    done: list[Outcome] = []
    while True:
        found, ended = _run(module, way, [o.test for o in done], seconds)
        done += found
        if not ended:
            return done
        if not found or found[-1].outcome != FAILED:
            return [*done, Outcome(module, FAILED, ended)]


def _run(module: str, way: Way, without: list[str], seconds: float) -> tuple[list[Outcome], str]:
    with tempfile.TemporaryDirectory() as here:
        file = Path(here) / "outcomes"
        job = Job(way.simulator, way.inert, module, without, str(file))
        environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "WARPWISE_BACKEND": "simulator"}
        environment |= {
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            ASKED: json.dumps(asdict(job)),
        }
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        )
        # numba-cuda is imported by its name, which is not that of its folder
        test = Path(here) / "test_module.py"
        test.write_text(f"from numba.cuda.tests.{module} import *\n")
        command = [sys.executable, "-m", "pytest", "-p", Path(__file__).stem, *PLAIN, str(test)]
        try:
            process = subprocess.run(
                command,
                env=environment,
                cwd=here,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
            said = (
                process.stderr.strip().splitlines() or process.stdout.strip().splitlines() or [""]
            )[-1]
            well = process.returncode in (
                0,
                1,
                2,
                5,
            )  # pytest's: all passed, some failed, some not collected, none
            ended = "" if well else f"exit status {process.returncode}: {said}"
        except subprocess.TimeoutExpired:
            ended = f"took more than {seconds:g} s"
        lines = file.read_text().splitlines() if file.exists() else []
    outcomes = [Outcome(**json.loads(line)) for line in lines]
    if outcomes and outcomes[-1].outcome == BEGUN:
        outcomes[-1] = Outcome(outcomes[-1].test, FAILED, ended)
    return [o for o in outcomes if o.outcome != BEGUN], ended


# In the worker, which is pytest with this module as a plugin.


def pytest_configure(config: pytest.Config) -> None:
    job = Job.asked()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    if job.inert:
        import numba.cuda.testing

        numba.cuda.testing.skip_on_cudasim = lambda reason: lambda test: test
    if job.simulator == WARPWISE:
        substitute()


def substitute() -> None:
    """Put ``warpwise.cuda`` in the place of Numba's simulator: nothing of that is left."""
    import numba.cuda

    import warpwise.cuda

    for name, value in list(vars(numba.cuda).items()):
        if (getattr(value, "__module__", None) or "").startswith("numba.cuda.simulator"):
            delattr(numba.cuda, name)
    for name in dir(warpwise.cuda):
        setattr(numba.cuda, name, getattr(warpwise.cuda, name))


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    """What numba-cuda's own conftest, which is in no wheel, sets for its test classes."""
    request.cls._dump_failed_filechecks = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if _name(item.nodeid) not in Job.asked().without]


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _write(Outcome(_name(report.nodeid), FAILED, _told(report)))
    elif report.skipped:
        _write(Outcome(_name(report.nodeid), SKIPPED))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    name = _name(item.nodeid)
    _write(Outcome(name, BEGUN))
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(TEST_SECONDS)
    Job.found = Outcome(name, PASSED)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        _write(Job.found)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        Job.found = Outcome(_name(report.nodeid), FAILED, _told(report))
    elif report.skipped and Job.found.outcome == PASSED:
        Job.found = Outcome(_name(report.nodeid), SKIPPED)


def _told(report: pytest.CollectReport | pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return (
        f"{crash.message[:1500]} [{Path(crash.path).name}:{crash.lineno}]"
        if crash
        else str(report.longrepr)[-1500:]
    )


def _too_long(*_: object) -> None:
    raise TimeoutError(f"took more than {TEST_SECONDS} s")


def _name(nodeid: str) -> str:
    """Return a test's name, such as ``cudapy.test_sync.TestCudaSync.test_syncwarp``."""
    return ".".join([Job.asked().module, *nodeid.split("::")[1:]])


def _write(outcome: Outcome) -> None:
    with Path(Job.asked().file).open("a") as file:
        file.write(json.dumps(asdict(outcome)) + "\n")


# What came of it.


def counted(outcomes: Iterable[Outcome]) -> Counter[str]:
    return Counter(outcome.outcome for outcome in outcomes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "modules", nargs="*", help="such as cudapy.test_atomics; all of them unless given"
    )
    parser.add_argument("-v", action="store_true", help="show what each failing test said")
    parser.add_argument("--only", choices=(NUMBA, WARPWISE), help="one simulator")
    parser.add_argument("--inert", action="store_true", help="only with skip_on_cudasim inert")
    parser.add_argument("--as-is", action="store_true", help="only as they are")
    parser.add_argument("-j", type=int, default=os.cpu_count(), help="workers")
    parser.add_argument("--json", type=Path, help="write all outcomes to this file")
    options = parser.parse_args()
    ways = [w for w in WAYS if options.only in (None, w.simulator)]
    ways = [w for w in ways if not (options.inert and not w.inert or options.as_is and w.inert)]
    chosen = options.modules or modules()
    jobs = [(module, way) for module in chosen for way in ways]
    with ThreadPoolExecutor(options.j) as pool:
        results = pool.map(lambda job: run(*job), jobs)
        found = dict(zip(jobs, tqdm(results, total=len(jobs), unit="module"), strict=True))
    for module in chosen:
        for way in ways:
            c = counted(found[module, way])
            print(
                f"{module:40} {way.simulator:9} {'inert' if way.inert else 'as is':6} {c[PASSED]:4} passed {c[FAILED]:4} failed {c[SKIPPED]:4} skipped"
            )
            if options.v:
                for o in found[module, way]:
                    if o.outcome == FAILED:
                        print("    ", o.test, o.told)
    for way in ways:
        print(way, dict(counted(o for (_, w), part in found.items() if w == way for o in part)))
    if options.json:
        options.json.write_text(
            json.dumps([asdict(o) | asdict(w) for (_, w), part in found.items() for o in part])
        )


if __name__ == "__main__":
    main()
