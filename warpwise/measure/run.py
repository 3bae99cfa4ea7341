"""Run suites one after another, each in a process of its own, and keep their records."""

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
from typing import Any

from warpwise.benchmark_records import Record, read, slug
from warpwise.errors import MeasureError
from warpwise.measure.suites import LONGER, SUITES
from warpwise.measure.worker import NOT_MEASURED, write

SECONDS = 300  # limit of one suite


@dataclass(frozen=True)
class Outcome:
    """The outcome of one suite: its record, or the problem. A partial record has both.

    ``stays``: the advantage of an earlier record, if it was not replaced.
    """

    suite: str
    record: Record | None
    problem: str = ""
    stays: str = ""


@dataclass(frozen=True)
class Settings:
    """Settings of a run. ``out``: the folder for records. ``command``: the command line to record.
    ``seconds``: time limit of one suite; some may take ``LONGER``.
    """

    out: Path
    quick: bool = False
    rehearsal: bool = False
    command: str = "warpwise measure"
    seconds: float = SECONDS


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Return the suites to run, in their order, all by default; raises MeasureError."""
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        raise MeasureError(f"no suite is called {unknown[0]!r}; there are {', '.join(SUITES)}")
    return tuple(name for name in SUITES if not names or name in names)


def run(
    names: Sequence[str], settings: Settings, say: Callable[[str, str], None]
) -> Iterator[Outcome]:
    """Run suites and keep each record in ``out/<device>/<suite>.json`` as soon as it exists.

    ``say`` is called with the suite and each case that begins. A record replaces an earlier one
    only if it is as good: a quick or partial one does not. Raises MeasureError without a GPU.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen(names):
            path = Path(folder) / f"{name}.json"
            problem = _worked(name, path, settings, say)
            yield _kept(name, path, settings.out, problem)


def _worked(name: str, path: Path, settings: Settings, say: Callable[[str, str], None]) -> str:
    """Run a suite's worker to its end; return its problem, or ""."""
    wishes = [wish for wish in ("quick", "rehearsal") if getattr(settings, wish)]
    program = [sys.executable, "-m", "warpwise.measure.worker", name, str(path), *wishes]
    own = {"WARPWISE_MEASURE_COMMAND": settings.command, "PYTHONUNBUFFERED": "1"}
    # libraries and drivers print what is not UTF-8 either
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        worker = subprocess.Popen(
            program,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | own,
            start_new_session=True,
            encoding="utf-8",
            errors="replace",
        )
        seconds = settings.seconds * LONGER.get(name, 1)
        timer = threading.Timer(seconds, _end, [worker])
        timer.start()
        try:
            for line in worker.stdout or ():
                say(name, line.strip())
            status = worker.wait()
        finally:
            _end(worker)
            timed_out = not timer.is_alive()
            timer.cancel()
            worker.wait()
        errors.seek(0)
        lines = [line.strip() for line in errors if line.strip()]
        last = lines[-1] if lines else f"ended with status {status}"
    if status == NOT_MEASURED:
        raise MeasureError(last)
    if status == 0:
        return ""
    return f"stopped after {seconds:.0f} seconds" if timed_out else last


def _end(worker: subprocess.Popen[str]) -> None:
    """End a worker and the processes it has started, such as ncu and the profiled program."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)


def _kept(name: str, path: Path, out: Path, problem: str) -> Outcome:
    if not path.exists():
        return Outcome(name, None, problem)
    record = read(path)
    if problem:
        record = replace(record, contents=record.contents | {"unfinished": problem})
    place = out / slug(record.device) / f"{name}.json"
    better = _better(place, record)
    if not better:
        write(record.contents, place)
    return Outcome(name, record, problem, better)


def _better(place: Path, record: Record) -> str:
    """Return the advantage of an earlier record in a few words, or "" to replace it."""
    try:
        earlier = read(place).contents
    except MeasureError:  # none, or a broken one
        return ""
    if record.contents.get("unfinished") and not earlier.get("unfinished"):
        return "finished"
    if record.contents.get("quick") and not earlier.get("quick"):
        return "not a quick one"
    return "more complete" if _measured(record.contents) < _measured(earlier) else ""


def _measured(told: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the cases and variants with a figure in a record."""
    return {
        (row["case"], row["variant"])
        for row in told["rows"]
        if row.get("median_ms") is not None or row["parameters"].get("measured")
    }
