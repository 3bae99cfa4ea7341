"""What ``warpwise measure`` shows: a bar while it runs, then tables of times, of speeds asked for, and of what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from warpwise import measurements
from warpwise.errors import MeasureError
from warpwise.measure import run, summary
from warpwise.measure.machine import command
from warpwise.measure.place import SIMULATOR
from warpwise.measure.suites import SUITES, suite
from warpwise.measurements import Record


def listed() -> None:
    """Print every suite's name and title."""
    _print(Console(), "Suites", ("suite", "what it measures"), ((name, suite(name).TITLE) for name in SUITES))


def measure(names: Sequence[str], out: Path | None, quick: bool, rehearsal: bool, compare: str | None, arguments: Sequence[str]) -> int:
    """Run suites and print what came of them; returns the exit status. Raises MeasureError, one line, where nothing can be measured."""
    wanted = run.chosen(names)
    beside = recorded_on(compare) if compare else {}
    where = (out or measurements.folder()) if not rehearsal else (out or Path.cwd() / "_build" / "rehearsal")
    outcomes = _with_bar(wanted, run.Settings(where, quick, rehearsal, command(list(arguments))))
    records = [outcome.record for outcome in outcomes if outcome.record]
    console = Console()
    for record in records:
        _print_times(console, record)
        if record.suite in beside:
            _print_comparison(console, record, beside[record.suite])
    _print_bars(console, [] if rehearsal else records)
    stopped = [f"{o.suite}: {o.problem}" for o in outcomes if o.problem]
    wrong = (*stopped, *summary.problems(records))
    for line in wrong:
        console.print(f"[red]{line}", highlight=False)
    for outcome in outcomes:
        if outcome.stays:
            console.print(f"{outcome.suite}: the earlier record stays, which is {outcome.stays}", highlight=False, soft_wrap=True)
    for folder in sorted({str(where / measurements.slug(record.device)) for record in records}):
        console.print(f"records: {folder}", highlight=False, soft_wrap=True)
    return int(bool(wrong))


def recorded_on(name: str) -> dict[str, Record]:
    """The records of a device, by suite. Raises MeasureError, with the devices there are, where none has the name."""
    key = measurements.slug(name).replace("-", "")
    found = [record for name in SUITES for record in measurements.recorded(name)]
    records = {record.suite: record for record in found if key in measurements.slug(record.device).replace("-", "")}
    if not records:
        there = ", ".join(sorted({record.device for record in found})) or "none yet"
        raise MeasureError(f"nothing is recorded of a device called {name!r}; recorded devices: {there}")
    return records


def _with_bar(names: Sequence[str], settings: run.Settings) -> list[run.Outcome]:
    columns = (BarColumn(20), MofNCompleteColumn(), TextColumn("suites"), TimeElapsedColumn(), TextColumn("{task.description}"))
    console = Console(stderr=True)
    outcomes = []
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("begins", total=len(names))
        for outcome in run.run(names, settings, lambda name, case: progress.update(task, description=f"{name}: {case}")):
            outcomes.append(outcome)
            progress.advance(task)
            if not console.is_terminal:  # in a log, a line for each suite
                console.print(f"{outcome.suite}: {outcome.problem or 'done'}", highlight=False, soft_wrap=True)
    return outcomes


def _print_times(console: Console, record: Record) -> None:
    if record.device == SIMULATOR:
        _print(console, f"{record.told['title']}: rehearsed in the simulator", ("case", "variant", "result"), summary.results(record))
    else:
        title = f"{record.told['title']}, measured on {record.device}"
        _print(console, title, ("case", "variant", "median", "rate"), summary.lines(record))


def _print_comparison(console: Console, record: Record, other: Record) -> None:
    heads = ("case", "variant", record.device, other.device, "times faster")
    _print(console, f"Beside {other.device}, {other.date[:10]}", heads, summary.compared(record, other))


def _print_bars(console: Console, records: Iterable[Record]) -> None:
    found = [reached for record in records for reached in summary.reached(record)]
    if found:
        _print(console, "Speeds asked for", ("kernel", "beside", "reached", "at least", "aim", ""), map(_of_bar, found))


def _of_bar(one: summary.Reached) -> tuple[str, ...]:
    ratio = "-" if one.ratio is None else f"{one.ratio:.2f}"
    least = f"{one.bar.at_least:.2f}" if one.bar.at_least else "-"
    return one.bar.what, one.bar.beside, ratio, least, f"{one.bar.aim:.2f}", one.verdict


def _print(console: Console, title: str, heads: Sequence[str], lines: Iterable[tuple[str, ...]]) -> None:
    table = Table(*heads, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*line)
    console.print(f"\n[bold]{title}", highlight=False, soft_wrap=True)
    console.print(table)
