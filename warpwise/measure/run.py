"""``warpwise measure``: suites one after the other, each in a process of its own, with a bar on the way and records at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from warpwise.errors import MeasureError
from warpwise.measure.suites import SUITES
from warpwise.measure.worker import NOT_MEASURED, write
from warpwise.measurements import Record, read, slug

SECONDS = 300  # of one suite
TEXT = {"encoding": "utf-8", "errors": "replace"}  # of what libraries and drivers print


@dataclass(frozen=True)
class Outcome:
    """What came of one suite: its record, or why there is none. A record may be of a part: then ``problem`` says why.

    ``stays``: what an earlier record is and this one is not, so that it was not replaced.
    """

    suite: str
    record: Record | None
    problem: str = ""
    stays: str = ""


@dataclass(frozen=True)
class Settings:
    """How suites run. ``out``: where records go. ``command``: what a record says it was made by. ``seconds``: of one suite, at most."""

    out: Path
    quick: bool = False
    rehearsal: bool = False
    command: str = "warpwise measure"
    seconds: float = SECONDS


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The suites to run, in their order; all if none is named. Raises MeasureError for a name that is none."""
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        raise MeasureError(f"no suite is called {unknown[0]!r}; there are {', '.join(SUITES)}")
    return tuple(name for name in SUITES if not names or name in names)


def run(names: Sequence[str], settings: Settings, say: Callable[[str, str], None]) -> Iterator[Outcome]:
    """Run suites and keep their records in ``out/<device>/<suite>.json``, each as soon as it is there.

    ``say`` is told the suite and the case that begins. An earlier record of a suite stays until there is a new one that is as good: a
    quick one, or one of a part, takes no other's place. Raises MeasureError where this machine has no GPU to measure.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen(names):
            path = Path(folder) / f"{name}.json"
            problem = _worked(name, path, settings, say)
            yield _kept(name, path, settings.out, problem)


def _worked(name: str, path: Path, settings: Settings, say: Callable[[str, str], None]) -> str:
    """Run a suite's worker to its end; returns why it did not come to it, or nothing."""
    wishes = [wish for wish in ("quick", "rehearsal") if getattr(settings, wish)]
    program = [sys.executable, "-m", "warpwise.measure.worker", name, str(path), *wishes]
    environment = os.environ | {"WARPWISE_MEASURE_COMMAND": settings.command, "PYTHONUNBUFFERED": "1"}
    with tempfile.TemporaryFile("w+", **TEXT) as errors:
        worker = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=errors, env=environment, start_new_session=True, **TEXT)
        timer = threading.Timer(settings.seconds, _end, [worker])
        timer.start()
        try:
            for line in worker.stdout:
                say(name, line.strip())
            status = worker.wait()
        finally:
            _end(worker)
            timed_out = not timer.is_alive()
            timer.cancel()
            worker.wait()
        errors.seek(0)
        last = ([line.strip() for line in errors if line.strip()] or [f"ended with status {status}"])[-1]
    if status == NOT_MEASURED:
        raise MeasureError(last)
    if status == 0:
        return ""
    return f"stopped after {settings.seconds:.0f} seconds" if timed_out else last


def _end(worker: subprocess.Popen) -> None:
    """End a worker and what it has started, such as ncu and the program that it watches."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)


def _kept(name: str, path: Path, out: Path, problem: str) -> Outcome:
    if not path.exists():
        return Outcome(name, None, problem)
    record = read(path)
    if problem:
        record = replace(record, told=record.told | {"unfinished": problem})
    place = out / slug(record.device) / f"{name}.json"
    better = _better(place, record)
    if not better:
        write(record.told, place)
    return Outcome(name, record, problem, better)


def _better(place: Path, record: Record) -> str:
    """What an earlier record is, and the new one is not: a few words; nothing where the new one may take its place."""
    try:
        earlier = read(place).told
    except MeasureError:  # there is none, or it is broken
        return ""
    if record.told.get("unfinished") and not earlier.get("unfinished"):
        return "finished"
    if record.told.get("quick") and not earlier.get("quick"):
        return "not a quick one"
    return "more complete" if _measured(record.told) < _measured(earlier) else ""


def _measured(told: dict) -> set[tuple[str, str]]:
    """The cases and variants of which a record has a figure."""
    rows = (row for row in told["rows"] if row.get("median_ms") is not None or row["parameters"].get("measured"))
    return {(row["case"], row["variant"]) for row in rows}
