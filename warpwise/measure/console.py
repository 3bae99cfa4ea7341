"""The output of ``warpwise measure``: a progress bar, then tables of times and targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from warpwise import benchmark_records
from warpwise.benchmark_records import Record
from warpwise.errors import MeasureError
from warpwise.measure import run, summary
from warpwise.measure.machine import command
from warpwise.measure.place import SIMULATOR
from warpwise.measure.suites import SUITES, suite


def listed() -> None:
    """Print every suite's name and title."""
    rows = ((name, suite(name).TITLE) for name in SUITES)
    _print(Console(), "Suites", ("suite", "measures"), rows)


def measure(
    names: Sequence[str],
    out: Path | None,
    quick: bool,
    rehearsal: bool,
    compare: str | None,
    arguments: Sequence[str],
) -> int:
    """Run suites, print the outcomes, and return the exit status.

    Raises MeasureError, one line, if nothing can be measured.
    """
    wanted = run.chosen(names)
    beside = recorded_on(compare) if compare else {}
    usual = Path.cwd() / "_build/rehearsal" if rehearsal else benchmark_records.folder()
    where = out or usual
    outcomes = _with_bar(wanted, run.Settings(where, quick, rehearsal, command(list(arguments))))
    records = [outcome.record for outcome in outcomes if outcome.record]
    console = Console()
    for record in records:
        _print_times(console, record)
        if record.suite in beside:
            _print_comparison(console, record, beside[record.suite])
    _print_targets(console, [] if rehearsal else records)
    stopped = [f"{o.suite}: {o.problem}" for o in outcomes if o.problem]
    wrong = (*stopped, *summary.problems(records))
    for line in wrong:
        console.print(f"[red]{line}", highlight=False)
    for outcome in outcomes:
        if outcome.stays:
            kept = f"{outcome.suite}: kept the earlier record, which is {outcome.stays}"
            console.print(kept, highlight=False, soft_wrap=True)
    for folder in sorted({str(where / benchmark_records.slug(r.device)) for r in records}):
        console.print(f"records: {folder}", highlight=False, soft_wrap=True)
    return int(bool(wrong))


def recorded_on(name: str) -> dict[str, Record]:
    """Return a device's records by suite; raises MeasureError, with a list, for unknown names."""

    def key(device: str) -> str:
        return benchmark_records.slug(device).replace("-", "")

    found = [record for suite in SUITES for record in benchmark_records.recorded(suite)]
    records = {record.suite: record for record in found if key(name) in key(record.device)}
    if not records:
        known = ", ".join(sorted({record.device for record in found})) or "none yet"
        raise MeasureError(f"no record of a device called {name!r}; recorded devices: {known}")
    return records


def _with_bar(names: Sequence[str], settings: run.Settings) -> list[run.Outcome]:
    columns = (
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn("suites"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    console = Console(stderr=True)
    outcomes = []
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("starting", total=len(names))

        def show(name: str, case: str) -> None:
            progress.update(task, description=f"{name}: {case}")

        for outcome in run.run(names, settings, show):
            outcomes.append(outcome)
            progress.advance(task)
            if hidden:  # in a log, a line for each suite
                line = f"{outcome.suite}: {outcome.problem or 'done'}"
                console.print(line, highlight=False, soft_wrap=True)
    return outcomes


def _print_times(console: Console, record: Record) -> None:
    if record.device == SIMULATOR:
        title = f"{record.contents['title']}: rehearsed in the simulator"
        _print(console, title, ("case", "variant", "result"), summary.results(record))
    else:
        title = f"{record.contents['title']}, measured on {record.device}"
        _print(console, title, ("case", "variant", "median", "rate"), summary.lines(record))


def _print_comparison(console: Console, record: Record, other: Record) -> None:
    heads = ("case", "variant", record.device, other.device, "times faster")
    title = f"Compared with {other.device}, {other.date[:10]}"
    _print(console, title, heads, summary.compared(record, other))


def _print_targets(console: Console, records: Iterable[Record]) -> None:
    found = [reached for record in records for reached in summary.reached(record)]
    if found:
        heads = ("kernel", "compared with", "ratio", "at least", "aim", "")
        _print(console, "Performance targets", heads, map(_of_target, found))


def _of_target(one: summary.Reached) -> tuple[str, ...]:
    ratio = "-" if one.ratio is None else f"{one.ratio:.2f}"
    least = f"{one.bar.at_least:.2f}" if one.bar.at_least else "-"
    return one.bar.what, one.bar.beside, ratio, least, f"{one.bar.aim:.2f}", one.verdict


def _print(
    console: Console, title: str, heads: Sequence[str], lines: Iterable[tuple[str, ...]]
) -> None:
    table = Table(*heads, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*line)
    console.print(f"\n[bold]{title}", highlight=False, soft_wrap=True)
    console.print(table)
