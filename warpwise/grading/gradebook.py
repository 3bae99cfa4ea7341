"""The files of a run: ``grades.csv``, ``gpu.csv``, ``history.csv``, and feedback per student.

Each file appears whole or not at all. Cells that a spreadsheet would take for a formula are
defused, since students choose their names and files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path

from warpwise.grading import feedback, history, unfinished
from warpwise.grading.record import NOT_YET, Record
from warpwise.grading.scoring import sheet
from warpwise.grading.scoring.sheet import defused as defused
from warpwise.grading.scoring.standing import Standings
from warpwise.grading.store import Kept, Run, file_name
from warpwise.labs.source import Lab
from warpwise.labs.whole import whole

FIRST_COLUMNS = ("student", "file", "lab", "points", "possible", "isolated", "problem")
GPU_COLUMNS = ("student", "lab", "exercise", "gpu", "outcome", "us", "solution_us", "least_us")


def write(
    run: Run,
    labs: Mapping[str, Lab],
    standings: Standings,
    students: Collection[str] | None = None,
) -> bool:
    """Write the gradebook and the pages of a run; only these students' pages, if they are given.

    The pages show the ``standings``. Returns whether every record was graded in a sandbox. Raises
    OSError."""
    pages, columns = run.folder / "feedback", _columns(labs)
    named, rows, on_gpu = set[str](), [columns], [list(GPU_COLUMNS)]
    changed: list[Sequence[str]] = [history.COLUMNS]
    replaced, isolated = unfinished.replaced(run), True
    run = unfinished.without(run, replaced)
    pages.mkdir(exist_ok=True)
    # all in one pass, since each record is read from its file
    for student, found in groupby(unfinished.kept(run), key=lambda kept: kept.record.student):
        theirs, name = list(found), file_name(student)
        records = [kept.record for kept in theirs]
        named.add(name)
        isolated &= all(record.isolated for record in records)
        rows += (_row(record, columns) for record in records)
        on_gpu += _measured(records)
        changed += (row for kept in theirs for row in history.rows(history.steps(kept)))
        if students is None or student in students:
            said = _said(theirs)
            for suffix, make in ((".html", feedback.page), (".txt", feedback.text)):
                whole(pages / f"{name}{suffix}", make(student, records, labs, said, standings))
    for kept in replaced.kept():
        changed += history.rows(history.steps(kept))
        isolated &= kept.record.isolated
    _remove_others(pages, named)
    grades = sheet.written(rows)
    whole(run.folder / "grades.csv", sheet.marked(grades, unfinished.said(run.folder)))
    _write_table(run.folder / "gpu.csv", on_gpu)
    _write_table(run.folder / history.NAME, changed)
    return isolated


def _said(theirs: Iterable[Kept]) -> dict[str, list[str]]:
    """Return the lines about how a student's grades changed, by lab."""
    said: dict[str, list[str]] = {}
    for kept in theirs:
        said.setdefault(kept.record.lab, []).extend(history.notes(kept))
    return said


def _write_table(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write a table, or remove it if it has only heads."""
    if len(rows) > 1:
        whole(path, sheet.written(rows))
    else:
        path.unlink(missing_ok=True)


def _columns(labs: Mapping[str, Lab]) -> list[str]:
    """Return the gradebook's columns: one per ``lab/exercise`` after the first ones."""
    exercises = [f"{stem}/{e.id}" for stem, lab in labs.items() for e in lab.exercises]
    return [*FIRST_COLUMNS, *exercises]


def _measured(records: Iterable[Record]) -> Iterator[list[str]]:
    """Yield a row for each kernel that passed and that the GPU ran.

    Times are in microseconds, empty where there was no clock."""
    for record in records:
        for result in record.results:
            if gpu := result.gpu:
                times = (gpu.seconds, gpu.solution_seconds, gpu.least_seconds)
                about = [record.student, record.lab, result.exercise]
                outcome = [gpu.gpu, gpu.problem or "right"]
                us = (f"{1e6 * time:.2f}" if time > 0 else "" for time in times)
                yield [*about, *outcome, *us]


def _remove_others(pages: Path, names: Collection[str]) -> None:
    """Remove pages, which lie in pairs, that an earlier version wrote under other names."""
    for page in pages.glob("*.html"):
        twin = page.with_suffix(".txt")
        if page.stem not in names and twin.exists():
            page.unlink()
            twin.unlink()


def installed() -> str:
    """Return the version of this package."""
    try:
        return version("warpwise")
    except PackageNotFoundError:
        return "unknown"


def _row(record: Record, columns: Sequence[str]) -> list[str]:
    """Return a submission's row; cells of other labs are empty."""
    row = {
        "student": record.student,
        "file": record.file,
        "lab": record.lab,
        "points": "" if record.problem == NOT_YET else f"{record.points:g}",
        "possible": "" if record.problem == NOT_YET else f"{record.possible:g}",
        "isolated": "yes" if record.isolated else "not isolated",
        "problem": record.problem,
    }
    row |= {f"{record.lab}/{result.exercise}": f"{result.points:g}" for result in record.results}
    return [row.get(column, "") for column in columns]
