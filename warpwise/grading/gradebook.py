"""Write what a run of the grader found: ``grades.csv``, ``run.json`` and one feedback page per student.

Each file appears whole or not at all. Cells that a spreadsheet would take for a formula are defused, since names and files are the
students' to choose.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import feedback
from warpwise.grading.record import Record
from warpwise.labs.source import Lab

FIRST_COLUMNS = ("student", "file", "lab", "points", "possible", "isolated", "problem")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
MOST_NAME_CHARACTERS = 60


def write(out: Path, records: Sequence[Record], labs: Mapping[str, Lab], seed: int) -> None:
    """All files of a run. Raises GradingError if the folder cannot be written."""
    by_student: dict[str, list[Record]] = {}
    for record in records:
        by_student.setdefault(record.student, []).append(record)
    try:
        (out / "feedback").mkdir(parents=True, exist_ok=True)
        for student, theirs in by_student.items():
            whole(out / "feedback" / f"{file_name(student)}.html", feedback.page(student, theirs, labs))
        whole(out / "grades.csv", table(records, labs))
        whole(out / "run.json", json.dumps(about(records, labs, seed), indent=2) + "\n")
    except OSError as error:
        raise GradingError(f"{out} cannot be written: {error.strerror}") from error


def table(records: Sequence[Record], labs: Mapping[str, Lab]) -> str:
    """The gradebook as CSV: one row per submission, one column per exercise, named ``lab/exercise``."""
    exercises = [f"{stem}/{exercise.id}" for stem, lab in labs.items() for exercise in lab.exercises]
    text = io.StringIO()
    rows = csv.DictWriter(text, [*FIRST_COLUMNS, *exercises], restval="", lineterminator="\n")
    rows.writeheader()
    for record in records:
        rows.writerow({column: defused(value) for column, value in _row(record).items()})
    return text.getvalue()


def about(records: Sequence[Record], labs: Mapping[str, Lab], seed: int) -> dict:
    """What it takes to repeat a run. It tells the seed of the hidden cases, so it is not for students."""
    try:
        installed = version("warpwise")
    except PackageNotFoundError:
        installed = "unknown"
    isolated = all(record.isolated for record in records)
    return {"seed": seed, "warpwise": installed, "labs": {stem: lab.version for stem, lab in labs.items()}, "isolated": isolated}


def defused(value: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{value}" if value.startswith(FORMULA) else value


def file_name(student: str) -> str:
    """A name for a student's page that is one plain file name, different for different students."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", student)[:MOST_NAME_CHARACTERS].lstrip(".") or "student"
    return plain if plain == student else f"{plain}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"


def whole(path: Path, text: str) -> None:
    """Write a file so that a reader, or a crash, meets the old one or the new one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}-")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


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
