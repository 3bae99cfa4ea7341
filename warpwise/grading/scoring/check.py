"""All mistakes in an instructor's files at once, each with its line: ``warpwise course check``.

These are ``course.toml``, and of a graded folder ``overrides.csv`` and ``times.csv``. What the
other commands stop at, one by one, is found here before it matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from warpwise.errors import GradingError
from warpwise.grading import store
from warpwise.grading.record import Record
from warpwise.grading.scoring import course as courses
from warpwise.grading.scoring import overrides, schedule, scores
from warpwise.grading.scoring.course import Course
from warpwise.grading.scoring.folder import course_files, roster_of, settings_of, timed
from warpwise.grading.scoring.overrides import Override
from warpwise.grading.scoring.roster import Roster, folded
from warpwise.grading.scoring.toml_values import line_of
from warpwise.labs.source import Lab, load_lab

Found = TypeVar("Found")


@dataclass(frozen=True)
class Check:
    """What is wrong, what is odd, and what is understood. Without ``file`` all are defaults."""

    file: Path | None
    course: Course
    labs: Mapping[str, Lab]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    by_hand: tuple[Override, ...] | None  #: None where no ``overrides.csv`` was looked at


def check(
    course: Path | None = None, graded: Path | None = None, roster: Path | None = None
) -> Check:
    """Check the settings of a course folder, or of one file, with a graded folder's and a roster.

    Raises GradingError where there is no such folder."""
    run = store.load(graded) if graded else None
    settings = settings_of(run) if run else {}
    root, file = course_files(course, settings.get("course"))
    labs = {path.stem: load_lab(path) for path in sorted((root / "solutions").glob("[0-9]*.md"))}
    problems: list[str] = []
    warnings: list[str] = []
    listed = _tried(problems, lambda: roster_of(roster, settings))
    read = _tried(problems, lambda: courses.check(file, labs)) if file else None
    used = read.course if read and read.course else Course()
    if file and read:
        problems += [f"{file.name}:{line}: {what}" for line, what in read.problems]
        problems += _unknown_extensions(file.name, read.text, used, listed)
        if not read.problems:  # which leave settings out
            warnings += _early_extensions(file.name, read.text, used)
    by_hand = None
    if run:
        records = list(map(store.outline, run.records))
        by_hand, found, odd = _overrides(run.folder, labs, used, _students(records, listed))
        problems += found
        warnings += odd
        _tried(problems, lambda: timed(run, records, settings, sorted(labs), listed, used))
    return Check(file, used, labs, tuple(problems), tuple(warnings), by_hand)


def _tried(problems: list[str], read: Callable[[], Found]) -> Found | None:
    """Read a file; a mistake in it becomes one of the problems."""
    try:
        return read()
    except GradingError as error:
        problems.append(str(error))
        return None


def _unknown_extensions(
    name: str, text: str, course: Course, listed: Roster | None
) -> Iterator[str]:
    """Yield a line for each student with an extension who is nobody on the roster."""
    for student in dict.fromkeys(student for student, _ in course.extensions):
        if listed and not listed.find(student):
            line, why = line_of(text, ("extensions", student)), listed.why(student)
            near = "" if listed.fitting(student) else listed.meant(student)
            yield f'{name}:{line}: [extensions."{student}"]: {why}{near}'


def _early_extensions(name: str, text: str, course: Course) -> Iterator[str]:
    for (student, stem), until in course.extensions.items():
        due = course.lab(stem).due
        if due is None or until <= due:
            than = "no due time to extend" if due is None else f"due {schedule.moment(due)}"
            line = line_of(text, ("extensions", student, stem))
            yield f'{name}:{line}: [extensions."{student}"]: {stem} has {than}'


def _students(records: Sequence[Record], listed: Roster | None) -> Roster:
    return scores.everyone(scores.by_student(records, listed), listed)


def _overrides(
    folder: Path, labs: Mapping[str, Lab], course: Course, students: Roster
) -> tuple[tuple[Override, ...] | None, list[str], list[str]]:
    """Return the overrides of a graded folder, what is wrong with them, and what is odd."""
    path = folder / overrides.NAME
    if not path.exists():
        return None, [], []
    problems: list[str] = []
    read = _tried(problems, lambda: overrides.check(path, labs))
    if read is None:
        return (), problems, []
    found, mistakes = read
    problems += map(str, mistakes)
    first: dict[tuple[str, str, str], int] = {}
    for row in found:
        student = students.find(row.student)
        if student is None:
            problems.append(str(row.wrong(students.nobody(row.student))))
        key = folded(student.id if student else row.student), row.lab, row.exercise
        earlier = first.setdefault(key, row.line)
        if earlier != row.line:
            problems.append(str(row.wrong(f"line {earlier} already sets the same points")))
    return found, sorted(problems, key=_line), [*_above(found, labs, course)]


def _line(problem: str) -> int:
    """The line that a problem names, so that a file's problems come in its order."""
    number = problem.split(":")[1:2]
    return int(number[0]) if number and number[0].isdecimal() else 0


def _above(found: Sequence[Override], labs: Mapping[str, Lab], course: Course) -> Iterator[str]:
    for row in found:
        lab = labs[row.lab]
        of_lab = schedule.points(course.lab(row.lab), lab)
        most = lab.exercise(row.exercise).points if row.exercise else of_lab
        if row.points > most:
            what = f"{row.lab}/{row.exercise}" if row.exercise else row.lab
            yield str(row.wrong(f"{row.points:g} points are more than the {most:g} of {what}"))
