"""Earlier grades: what each was, when and why another took its place.

They are kept in the record's own file. ``history.csv`` is made from them, and so is the line on the
student's page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

from warpwise.grading.record import Record
from warpwise.grading.store import Earlier, Kept, outline

NAME = "history.csv"
COLUMNS = tuple(
    "when student name lab file exercise before possible_before after possible why said".split()
)


@dataclass(frozen=True)
class Step:
    """One change of a record's grade: from ``before`` to ``after``, with exercises by id.

    ``when``, ``why`` and ``said`` are in ``before``."""

    record: Record
    before: Earlier
    after: Earlier


def grade_of(kept: Kept, when: str = "", why: str = "", said: str = "") -> Earlier:
    """Return the grade that a record has, as its history keeps it."""
    r = kept.record
    exercises = tuple((x.exercise, x.points, x.possible, x.finding.reason) for x in r.results)
    return Earlier(kept.key, r.points, r.possible, r.problem, exercises, when, why, said)


def followed(old: Kept, new: Kept, why: str, said: str) -> Kept:
    """Return a new grade with those before it."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(new, earlier=(*old.earlier, grade_of(old, now, why, said)))


def steps(kept: Kept) -> Iterator[Step]:
    """Yield each change of a record's grade, the oldest first."""
    grades = (*kept.earlier, grade_of(kept))
    for before, after in pairwise(grades):
        yield Step(outline(kept.record), before, after)


def outcome(grade: Earlier) -> str:
    """Return a grade in words, such as "3 of 5 points"."""
    return f"{grade.points:g} of {grade.possible:g} points" + (
        f" ({grade.problem})" if grade.problem else ""
    )


def differs(step: Step) -> bool:
    """True if a change is one of points, of those that there are, or of why there are none."""
    before, after = (
        (grade.points, grade.possible, grade.problem) for grade in (step.before, step.after)
    )
    return before != after


def notes(kept: Kept) -> list[str]:
    """Return the lines for the student's page, on changes of points or of why there are none."""
    return [
        f"Graded again on {step.before.when[:10]}: {step.before.said or step.before.why}. "
        f"{outcome(step.before)} before, {outcome(step.after)} now."
        for step in steps(kept)
        if differs(step)
    ]


def rows(found: Iterable[Step]) -> Iterator[Sequence[str]]:
    """Yield a row for each change: the whole lab's, with no exercise, and each exercise's."""
    for step in found:
        before, after, r = step.before, step.after, step.record
        about = [before.when, r.student, r.name, r.lab, r.file]
        why = [before.why, before.said]
        of_lab = (before.points, before.possible, after.points, after.possible)
        yield [*about, "", *(f"{n:g}" for n in of_lab), *why]
        had = {exercise: tuple(points) for exercise, *points, _ in before.exercises}
        for exercise, points, possible, _ in after.exercises:
            if (points, possible) != (was := had.get(exercise, (0, 0))):
                numbers = (*was, points, possible)
                yield [*about, exercise, *(f"{number:g}" for number in numbers), *why]
