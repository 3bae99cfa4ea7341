"""What a run of the grader shows about a class, as rows for a terminal and for a spreadsheet. ``page`` has it as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from warpwise.grading.cohort.overview import ExerciseOverview, LabOverview
from warpwise.grading.cohort.parts import counted, how_far, names, share, who
from warpwise.grading.cohort.side_by_side import printable
from warpwise.grading.cohort.similar import Pair

MOST_LISTED = 10  # pairs, in a terminal


@dataclass(frozen=True)
class Table:
    """A heading, the names of columns, and rows."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def summary(labs: Sequence[LabOverview], pairs: Sequence[Pair]) -> Iterator[Table]:
    """Per lab how many pass each exercise and what most often fails; and how many pairs are similar."""
    for lab in labs:
        rows = tuple(
            (printable(e.id), f"{e.passed} of {e.graded} ({share(e.passed, e.graded)})", str(e.not_tried), _first(e)) for e in lab.exercises
        )
        yield Table(said(lab), ("exercise", "pass", "not tried", "most often"), rows)
    if labs:
        yield Table(f"{counted(len(pairs), 'pair')} of similar submissions", (), ())


def whole(labs: Sequence[LabOverview], pairs: Sequence[Pair]) -> Iterator[Table]:
    """All that the page says, without the texts of similar submissions."""
    for lab, shown in zip(labs, summary(labs, pairs), strict=False):
        yield shown
        if lab.problems:
            yield _groups("could not be graded", "problem", [(group.what, group.records) for group in lab.problems])
        for e in lab.exercises:
            reasons = [(group.what, group.records) for group in (*e.reasons, *e.behaviours)]
            over = [(f"{x.counter.replace('_', ' ')} over budget: {how_far(x)} (median)", x.records) for x in e.exceeded]
            shown = [("passes its own check, fails hidden tests", e.only_shown)] if e.only_shown else []
            alike = [("the same answer, but for names, layout and comments", e.alike)] if e.alike else []
            if found := reasons + over + shown + alike:
                yield _groups(printable(e.id), "what was found", found)
        slowest = tuple((who(record), printable(record.file), f"{record.seconds:.1f} s") for record in lab.slowest)
        yield Table(f"time on the grader: median {lab.median_seconds:.1f} s, 95 of 100 at most {lab.most_seconds:.1f} s", (), ())
        yield Table("slowest", ("student", "file", "time"), slowest)
    if labs:
        rows = tuple(
            (f"{p.similarity:.0%}", who(p.a), who(p.b), printable(f"{p.lab}: {', '.join(p.exercises)}")) for p in pairs[:MOST_LISTED]
        )
        yield Table(f"{counted(len(pairs), 'pair')} of similar submissions", ("in common", "student", "student", "where"), rows)


def exercise_rows(labs: Sequence[LabOverview]) -> Iterator[tuple[str, ...]]:
    """For a spreadsheet: a row of heads, and one per exercise."""
    yield ("lab", "exercise", "passed", "failed", "not_tried", "most_common_reason", "passes_own_check_only", "most_same_answers")
    for lab in labs:
        for e in lab.exercises:
            reason = e.reasons[0].what if e.reasons else ""
            yield lab.stem, e.id, f"{e.passed}", f"{e.failed}", f"{e.not_tried}", reason, f"{len(e.only_shown)}", f"{len(e.alike)}"


def pair_rows(pairs: Sequence[Pair]) -> Iterator[tuple[str, ...]]:
    """For a spreadsheet: a row of heads, and one per pair of similar submissions."""
    yield ("lab", "exercises", "student_a", "file_a", "student_b", "file_b", "similarity", "shared", "size")
    for p in pairs:
        ends = (p.a.student, p.a.file, p.b.student, p.b.file)
        yield p.lab, " ".join(p.exercises), *ends, f"{p.similarity:.3f}", f"{p.shared}", f"{p.size}"


def said(lab: LabOverview) -> str:
    """A lab in one line."""
    parts = [counted(len(lab.records), "submission")]
    if graded := len(lab.points):
        parts.append(f"median {median(lab.points):g} of {lab.possible:g} points")
    if ungraded := len(lab.records) - graded:
        parts.append(f"{ungraded} could not be graded")
    if lab.not_isolated:
        parts.append(f"{lab.not_isolated} NOT ISOLATED")
    return f"{printable(lab.stem or lab.title)}: {', '.join(parts)}"


def _first(e: ExerciseOverview) -> str:
    """What fails most often, and for how many."""
    return f"{printable(e.reasons[0].what)} ({len(e.reasons[0].records)})" if e.reasons else ""


def _groups(title: str, what: str, found: Sequence[tuple[str, Sequence]]) -> Table:
    return Table(
        title, (what, "submissions", "students"), tuple((printable(said), str(len(records)), names(records)) for said, records in found)
    )
