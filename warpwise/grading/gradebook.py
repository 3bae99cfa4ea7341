"""Write what a run of the grader found: ``grades.csv`` and two feedback pages per student, as HTML and as text.

Each file appears whole or not at all. Cells that a spreadsheet would take for a formula are defused, since names and files are the
students' to choose.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

from warpwise.grading import feedback
from warpwise.grading.record import Record
from warpwise.grading.scoring import sheet
from warpwise.grading.scoring.sheet import defused as defused
from warpwise.grading.store import Run, whole
from warpwise.labs.source import Lab

FIRST_COLUMNS = ("student", "file", "lab", "points", "possible", "isolated", "problem")
MOST_NAME_CHARACTERS = 60


def write(run: Run, labs: Mapping[str, Lab], notes: Mapping[str, str]) -> None:
    """The gradebook and the pages of a run. ``notes`` are lines about submissions, by file. Raises OSError."""
    by_student: dict[str, list[Record]] = {}
    for record in run.records:
        by_student.setdefault(record.student, []).append(record)
    (run.folder / "feedback").mkdir(exist_ok=True)
    for student, theirs in by_student.items():
        said = {record.lab: [notes[record.file]] for record in theirs if record.file in notes}
        for suffix, make in ((".html", feedback.page), (".txt", feedback.text)):
            whole(run.folder / "feedback" / f"{file_name(student)}{suffix}", make(student, theirs, labs, said))
    whole(run.folder / "grades.csv", table(run.records, labs))
    if any(result.gpu for record in run.records for result in record.results):
        whole(run.folder / "gpu.csv", measured(run.records))
    else:
        (run.folder / "gpu.csv").unlink(missing_ok=True)


def table(records: Sequence[Record], labs: Mapping[str, Lab]) -> str:
    """The gradebook as CSV: one row per submission, one column per exercise, named ``lab/exercise``."""
    exercises = [f"{stem}/{exercise.id}" for stem, lab in labs.items() for exercise in lab.exercises]
    columns = [*FIRST_COLUMNS, *exercises]
    return sheet.written([columns, *([row.get(column, "") for column in columns] for row in map(_row, records))])


def measured(records: Sequence[Record]) -> str:
    """What a GPU said of the kernels that passed, as CSV: one row each, times in microseconds, empty where there was no clock."""
    rows = [
        [record.student, record.lab, result.exercise, result.gpu.gpu, result.gpu.problem or "right",
         *(f"{1e6 * time:.2f}" if time > 0 else "" for time in (result.gpu.seconds, result.gpu.solution_seconds, result.gpu.least_seconds))]
        for record in records
        for result in record.results
        if result.gpu
    ]  # fmt: skip
    return sheet.written([["student", "lab", "exercise", "gpu", "outcome", "us", "solution_us", "least_us"], *rows])


def installed() -> str:
    """The version of this package."""
    try:
        return version("warpwise")
    except PackageNotFoundError:
        return "unknown"


def file_name(student: str) -> str:
    """A name for a student's page that is one plain file name, different for different students."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", student)[:MOST_NAME_CHARACTERS].lstrip(".") or "student"
    return plain if plain == student else f"{plain}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"


def _row(record: Record) -> dict[str, str]:
    row = {
        "student": record.student,
        "file": record.file,
        "lab": record.lab,
        "points": f"{record.points:g}",
        "possible": f"{record.possible:g}",
        "isolated": "yes" if record.isolated else "not isolated",
        "problem": record.problem,
    }
    return row | {f"{record.lab}/{result.exercise}": f"{result.points:g}" for result in record.results}
