"""The report on a class as rows for a terminal and for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from warpwise.grading.class_report.overview import ExerciseOverview, LabOverview
from warpwise.grading.class_report.similar import Pair
from warpwise.grading.class_report.wording import how_far, names, plural, printable, share, who
from warpwise.grading.record import Record

MOST_LISTED = 10  # pairs, in a terminal
EXERCISE_COLUMNS = tuple(
    "lab exercise passed failed not_tried most_common_reason passes_own_check_only "
    "most_same_answers".split()
)
PAIR_COLUMNS = tuple(
    "lab exercises student_a file_a student_b file_b similarity shared size".split()
)


@dataclass(frozen=True)
class Table:
    """A heading, the names of columns, and rows."""

    title: str
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def summary(labs: Sequence[LabOverview], pairs: Sequence[Pair]) -> Iterator[Table]:
    """Yield for each lab how many pass each exercise and what fails most often; count the pairs."""
    yield from map(_passing, labs)
    if labs:
        yield Table(_similar(pairs))


def whole(labs: Sequence[LabOverview], pairs: Sequence[Pair]) -> Iterator[Table]:
    """Yield all that the page says, without the texts of similar submissions."""
    for lab in labs:
        yield _passing(lab)
        if lab.problems:
            problems = ((group.what, group.records) for group in lab.problems)
            yield _groups("could not be graded", "problem", problems)
        for e in lab.exercises:
            if findings := tuple(_findings(e)):
                yield _groups(printable(e.id), "finding", findings)
        yield Table(
            f"time on the grader: median {lab.median_seconds:.1f} s, "
            f"95 of 100 at most {lab.most_seconds:.1f} s"
        )
        slowest = ((who(r), printable(r.file), f"{r.seconds:.1f} s") for r in lab.slowest)
        yield Table("slowest", ("student", "file", "time"), tuple(slowest))
    if labs:
        listed = (
            (f"{p.similarity:.0%}", who(p.a), who(p.b), printable(f"{p.lab}: {_exercises(p)}"))
            for p in pairs[:MOST_LISTED]
        )
        yield Table(_similar(pairs), ("in common", "student", "student", "where"), tuple(listed))


def exercise_rows(labs: Sequence[LabOverview]) -> Iterator[tuple[str, ...]]:
    """Yield a row of heads and a row for each exercise, for a spreadsheet."""
    yield EXERCISE_COLUMNS
    for lab in labs:
        for e in lab.exercises:
            reason = e.reasons[0].what if e.reasons else ""
            counts = (e.passed, e.failed, e.not_tried)
            more = (len(e.only_shown), len(e.alike))
            yield (lab.stem, e.id, *map(str, counts), reason, *map(str, more))


def pair_rows(pairs: Sequence[Pair]) -> Iterator[tuple[str, ...]]:
    """Yield a row of heads and a row for each pair of similar submissions, for a spreadsheet."""
    yield PAIR_COLUMNS
    for p in pairs:
        ends = (p.a.student, p.a.file, p.b.student, p.b.file)
        yield p.lab, " ".join(p.exercises), *ends, f"{p.similarity:.3f}", f"{p.shared}", f"{p.size}"


def _passing(lab: LabOverview) -> Table:
    rows = (
        (
            printable(e.id),
            f"{e.passed} of {e.graded} ({share(e.passed, e.graded)})",
            str(e.not_tried),
            f"{printable(e.reasons[0].what)} ({len(e.reasons[0].records)})" if e.reasons else "",
        )
        for e in lab.exercises
    )
    return Table(_title(lab), ("exercise", "pass", "not tried", "most often"), tuple(rows))


def _title(lab: LabOverview) -> str:
    """Sum a lab up in one line."""
    parts = [plural(len(lab.records), "submission")]
    if graded := len(lab.points):
        parts.append(f"median {median(lab.points):g} of {lab.possible:g} points")
    if ungraded := len(lab.records) - graded:
        parts.append(f"{ungraded} could not be graded")
    if lab.not_isolated:
        parts.append(f"{lab.not_isolated} NOT ISOLATED")
    return f"{printable(lab.stem or lab.title)}: {', '.join(parts)}"


def _findings(e: ExerciseOverview) -> Iterator[tuple[str, Sequence[Record]]]:
    """Yield all that was found about an exercise, with those it concerns."""
    for group in (*e.reasons, *e.behaviours):
        yield group.what, group.records
    for over in e.exceeded:
        counter = over.counter.replace("_", " ")
        yield f"{counter} over budget: {how_far(over)} (median)", over.records
    if e.only_over_budget:
        yield "right in every hidden case, but over budget", e.only_over_budget
    if e.only_shown:
        yield "passes its own check, fails hidden tests", e.only_shown
    if e.alike:
        yield "the same answer, but for names, layout and comments", e.alike


def _groups(title: str, what: str, found: Iterable[tuple[str, Sequence[Record]]]) -> Table:
    rows = ((printable(said), str(len(records)), names(records)) for said, records in found)
    return Table(title, (what, "submissions", "students"), tuple(rows))


def _similar(pairs: Sequence[Pair]) -> str:
    return f"{plural(len(pairs), 'pair')} of similar submissions"


def _exercises(pair: Pair) -> str:
    return ", ".join(pair.exercises)
