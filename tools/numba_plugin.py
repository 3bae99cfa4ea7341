"""A plugin of pytest that runs numba-cuda's own tests on `warpwise.cuda` or on Numba's simulator.

`numba_suite.py` runs pytest with it. The job is in the variable ASKED; each outcome becomes a line
of JSON, so that what was done is known if the process ends early."""

from __future__ import annotations

import builtins
import functools
import itertools
import json
import linecache
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

ASKED = "WARPWISE_NUMBA_SUITE"
NUMBA, WARPWISE = "numba", "warpwise"  # the simulators
PASSED, FAILED, SKIPPED, BEGUN = "passed", "failed", "skipped", "begun"
FILE = "test__{}.py"  # of a module, with underscores for its dots
TEST_SECONDS = 30
MEMORY_BYTES = 6 << 30
TOLD_CHARACTERS = 1500


@dataclass(frozen=True)
class Outcome:
    """What came of one test: ``test`` is its name below ``numba.cuda.tests``."""

    test: str
    outcome: str
    told: str = ""


@dataclass(frozen=True)
class Job:
    """Which modules to run, on which simulator; ``inert``: ``skip_on_cudasim`` skips nothing."""

    simulator: str
    inert: bool
    modules: list[str]
    without: list[str]
    file: str


@dataclass
class State:
    """The outcome so far of the test that runs."""

    found: Outcome = field(default_factory=lambda: Outcome("", PASSED))


STATE = State()


@functools.cache
def asked() -> Job:
    return Job(**json.loads(os.environ[ASKED]))


def pytest_configure(config: pytest.Config) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    if asked().inert:
        import numba.cuda.testing

        numba.cuda.testing.skip_on_cudasim = lambda reason: lambda test: test
    if asked().simulator == WARPWISE:
        substitute()
        builtins.exec = _keeping_text(builtins.exec)


def _keeping_text(execute: Callable[..., None]) -> Callable[..., None]:
    """Return ``exec`` that keeps the text of a string in ``linecache``, where kernels are read."""
    numbers = itertools.count(1)

    def keeping(code: object, globals_: Any = None, locals_: Any = None, /, **named: Any) -> None:
        if isinstance(code, str):
            name = f"<exec {next(numbers)}>"
            linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
            code = compile(code, name, "exec")
        if globals_ is None:
            caller = sys._getframe(1)
            globals_, locals_ = caller.f_globals, caller.f_locals
        execute(code, globals_, locals_, **named)

    return keeping


def substitute() -> None:
    """Put ``warpwise.cuda`` in the place of Numba's simulator: nothing of that is left."""
    import numba.cuda

    import warpwise.cuda

    for name, value in list(vars(numba.cuda).items()):
        if (getattr(value, "__module__", None) or "").startswith("numba.cuda.simulator"):
            delattr(numba.cuda, name)
    for name in dir(warpwise.cuda):
        setattr(numba.cuda, name, getattr(warpwise.cuda, name))
    _substitute_parts()


def _substitute_parts() -> None:
    """Put ours into the modules below ``numba.cuda`` in which tests look for names of the host."""
    import numba
    from numba.cuda.cudadrv import devicearray, driver

    from warpwise import cuda
    from warpwise.cuda import arrays, streams

    devicearray.DeviceNDArray = arrays.DeviceArray
    devicearray.DeviceRecord = arrays.DeviceRecord
    devicearray.from_array_like = lambda like, stream=0, gpu_data=None: arrays.DeviceArray(
        like.shape, like.strides, like.dtype, stream, gpu_data
    )
    devicearray.from_record_like = lambda like, stream=0, gpu_data=None: arrays.DeviceRecord(
        like.dtype, stream, gpu_data
    )
    devicearray.auto_device = lambda value, stream=0, copy=True: (
        cuda.to_device(value, stream, copy),
        not isinstance(value, arrays.DeviceArray),
    )
    driver.Stream = streams.Stream
    driver.driver.get_device = cuda.get_current_device
    for name in ("vectorize", "guvectorize"):
        setattr(numba, name, _with_target(getattr(numba, name), getattr(cuda, name)))


def _with_target(
    numbas: Callable[..., object], ours: Callable[..., object]
) -> Callable[..., object]:
    """Return what makes a ufunc for ``target="cuda"`` by ours, and any other by Numba's."""

    def make(*args: object, **named: object) -> object:
        for_cuda = named.get("target") == "cuda"
        return ours(*args, **named) if for_cuda else numbas(*args, **named)

    return make


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    """What numba-cuda's own conftest, which is in no wheel, sets for its test classes."""
    request.cls._dump_failed_filechecks = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if name_of(item.nodeid) not in asked().without]


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        write(Outcome(name_of(report.nodeid), FAILED, told(report)))
    elif report.skipped:
        write(Outcome(name_of(report.nodeid), SKIPPED))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    STATE.found = Outcome(name_of(item.nodeid), PASSED)
    write(Outcome(STATE.found.test, BEGUN))
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(TEST_SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        write(STATE.found)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        STATE.found = Outcome(name_of(report.nodeid), FAILED, told(report))
    elif report.skipped and STATE.found.outcome == PASSED:
        STATE.found = Outcome(name_of(report.nodeid), SKIPPED)


def told(report: pytest.CollectReport | pytest.TestReport) -> str:
    """Return what a failure said, and where."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        return str(report.longrepr)[-TOLD_CHARACTERS:]
    return f"{crash.message[:TOLD_CHARACTERS]} [{Path(crash.path).name}:{crash.lineno}]"


def too_long(*_: object) -> None:
    raise TimeoutError(f"took more than {TEST_SECONDS} s")


def name_of(nodeid: str) -> str:
    """Return a test's name, such as ``cudapy.test_sync.TestCudaSync.test_syncwarp``."""
    file, *names = nodeid.split("::")
    module = next((m for m in asked().modules if file == FILE.format(m.replace(".", "__"))), file)
    return ".".join([module, *names])


def write(outcome: Outcome) -> None:
    with Path(asked().file).open("a") as file:
        file.write(json.dumps(asdict(outcome)) + "\n")
