"""Points that an instructor sets by hand, in ``overrides.csv`` in the graded folder.

They always win, and the grader never writes the file.

    student,lab,exercise,points,reason
    ada,08_coalescing,transpose,3,the check was right on her GPU
    ben,08_coalescing,,12.5,oral examination

A row with an exercise sets that exercise's points, in the lab's own points. One without sets the
score of the whole lab, in the course's points, and no late penalty is taken from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading.scoring import sheet
from warpwise.grading.scoring.sheet import Sheet
from warpwise.grading.scoring.toml_values import MOST
from warpwise.labs.source import Lab
from warpwise.simt.compiler.spelling import nearest

NAME = "overrides.csv"
COLUMNS = ("student", "lab", "exercise", "points", "reason")


@dataclass(frozen=True)
class Override:
    """One row of the file, at ``line``. ``exercise`` is empty for the whole lab."""

    student: str
    lab: str
    exercise: str
    points: float
    reason: str = ""
    line: int = 0

    def wrong(self, what: str) -> GradingError:
        return GradingError(f"{NAME}:{self.line}: {what}")


def load(path: str | Path, labs: Mapping[str, Lab]) -> tuple[Override, ...]:
    """Read the overrides in a file; ``scores`` checks the students.

    Raises GradingError, with the line, for an unknown lab or exercise, or wrong points."""
    found, mistakes = check(path, labs)
    if mistakes:
        raise mistakes[0]
    return found


def check(
    path: str | Path, labs: Mapping[str, Lab]
) -> tuple[tuple[Override, ...], tuple[GradingError, ...]]:
    """Read the overrides in a file, and the mistakes in it, one for each row that has one.

    Raises GradingError where it is no such table."""
    table = sheet.read(path)
    _check_columns(table)
    found, mistakes = [], []
    for line, cells in table.rows:
        try:
            found.append(_override(table, line, cells, labs))
        except GradingError as error:
            mistakes.append(error)
    return tuple(found), tuple(mistakes)


def _check_columns(table: Sheet) -> None:
    for column in table.columns:
        _known(table, 1, column, COLUMNS, "a column")
    for column in COLUMNS[:4]:
        if table.columns.count(column) != 1:
            raise table.wrong(1, f"needs one column {column}; the columns are {', '.join(COLUMNS)}")


def _override(
    table: Sheet, line: int, cells: Mapping[str, str], labs: Mapping[str, Lab]
) -> Override:
    student, exercise = cells["student"], cells["exercise"]
    lab = _known(table, line, cells["lab"], labs, "a lab")
    if exercise:
        ids = [e.id for e in labs[lab].exercises]
        _known(table, line, exercise, ids, f"an exercise of {lab}")
    if not student:
        raise table.wrong(line, "the student is missing")
    points = _points(table, line, cells["points"])
    return Override(student, lab, exercise, points, cells.get("reason", ""), line)


def _points(table: Sheet, line: int, text: str) -> float:
    try:
        points = float(text)
    except ValueError:
        points = -1
    if not 0 <= points <= MOST:  # false for nan too
        raise table.wrong(line, f"{text!r} is not a number of points")
    return points


def _known(table: Sheet, line: int, name: str, names: Collection[str], what: str) -> str:
    if name not in names:
        near = nearest(name, names)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(names)}"
        raise table.wrong(line, f"{name!r} is not {what}; {hint}")
    return name
