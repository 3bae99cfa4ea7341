"""From records to scores: what each student has for each lab once the course's points, late policy and overrides are applied.

Numbers are rounded to two decimals, halves up, before they are added or taken away, so that every row of a gradebook adds up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from warpwise.errors import GradingError
from warpwise.grading.record import Record
from warpwise.grading.scoring.course import YEARS, Course, LabSettings, LatePolicy
from warpwise.grading.scoring.overrides import Override
from warpwise.grading.scoring.roster import Roster, Student, folded
from warpwise.labs.source import Lab
from warpwise.simt.language.advice import nearest

NO_SUBMISSION = "no submission"
MOST_NAMED = 5
_DOUBLE = "graded notebooks under one student"


@dataclass(frozen=True)
class Score:
    """One student's score for one lab, in the course's points: ``score`` is ``raw`` less ``penalty``, or what an override says.

    ``late_days`` counts the days that have begun since ``due`` and its grace. ``lab`` is empty for a file whose lab is not known.
    """

    student: Student
    lab: str
    raw: float = 0
    possible: float = 0
    penalty: float = 0
    score: float = 0
    submitted: datetime | None = None
    due: datetime | None = None
    late_days: int = 0
    note: str = ""
    file: str = ""
    overridden: bool = False


def scores(
    records: Iterable[Record],
    labs: Mapping[str, Lab],
    course: Course | None = None,
    roster: Roster | None = None,
    overrides: Sequence[Override] = (),
) -> tuple[Score, ...]:
    """A score for every student and every lab that anybody handed in or has an override for.

    Students come in the roster's order, then those who are not on it, and have their labs in order. Without a roster the students
    are those of the records. The order of the records makes no difference. Raises GradingError for a record of a lab that is not
    in ``labs``, and for an override of a student there is not.
    """
    course = course or Course()
    handed_in = by_student(records, roster)
    students = everyone(handed_in, roster)
    fixed = _by_student_and_lab(overrides, students)
    extended = _extended(course, students)
    graded = {lab for theirs in handed_in.values() for lab in theirs} | {override.lab for override in overrides}
    for lab in sorted(graded - {""} - labs.keys()):
        raise GradingError(f"there are records of {lab}, which is no lab of this course; name its course with --course")
    made = []
    for student in students.students:
        theirs = handed_in.get(student, {})
        for stem in sorted(graded - {""}):
            settings, key = course.lab(stem), (student, stem)
            made.append(_score(student, labs[stem], theirs.get(stem, ()), settings, extended.get(key), fixed.get(key, {})))
        made += [Score(student, "", note=_notes(student, [r.problem]), file=r.file) for r in theirs.get("", ())]
    return tuple(made)


def by_student(records: Iterable[Record], roster: Roster | None) -> dict[Student, dict[str, list[Record]]]:
    """Everybody who handed something in, with their records of each lab."""
    known: dict[tuple[str, str], Student] = {}
    found: dict[Student, dict[str, list[Record]]] = {}
    for record in sorted(records, key=lambda r: (r.student, r.lab, r.file, r.name)):
        student = student_of(record, roster)
        student = known.setdefault((student.id, student.unlisted), student)
        found.setdefault(student, {}).setdefault(record.lab, []).append(record)
    return found


def student_of(record: Record, roster: Roster | None) -> Student:
    if roster is None:
        return Student(record.student, record.name)
    found = roster.find(record.student) or roster.find(record.name)
    return found or Student(record.student, record.name, unlisted=roster.why(record.student))


def everyone(handed_in: Collection[Student], roster: Roster | None) -> Roster:
    """The roster's students in its order, then those who handed something in and are not on it."""
    listed = roster.students if roster else ()
    others = sorted(set(handed_in) - set(listed), key=lambda s: (folded(s.id), s.id, s.unlisted))
    return Roster((*listed, *others))


def percentages(scores: Iterable[Score], course: Course) -> dict[Student, float]:
    """Each student's total in percent: the mean of what part of each lab's points they have, weighted by the labs' weights."""
    gained: dict[Student, float] = {}
    weights: dict[Student, float] = {}
    for score in scores:
        if score.lab and score.possible:
            weight = course.lab(score.lab).weight
            gained[score.student] = gained.get(score.student, 0) + weight * score.score / score.possible
            weights[score.student] = weights.get(score.student, 0) + weight
    return {student: rounded(100 * gained[student] / weight) for student, weight in weights.items() if weight}


def warnings(scores: Collection[Score], course: Course, roster: Roster | None = None) -> tuple[str, ...]:
    """What an instructor should look at, one line each: who is not on the roster, files without a lab, doubles, idle extensions."""
    unlisted = list(dict.fromkeys(repr(score.student.id) for score in scores if score.student.unlisted))
    lost = [repr(score.file) for score in scores if not score.lab]
    doubled = [f"{s.student.id!r} for {s.lab} ({s.file!r} counts)" for s in scores if _DOUBLE in s.note]
    students = Roster(tuple(dict.fromkeys(score.student for score in scores)))
    idle = dict.fromkeys(repr(student) for student, _ in course.extensions if roster and not students.find(student))
    lines = (
        _listed(unlisted, "student handed something in and is not on the roster", "students handed something in and are not on the roster"),
        _listed(lost, "file belongs to no lab that is known", "files belong to no lab that is known"),
        _listed(doubled, "score has more than one graded notebook", "scores have more than one graded notebook"),
        _listed(list(idle), "student with an extension is not known", "students with an extension are not known"),
    )
    return tuple(filter(None, lines))


def rounded(number: float) -> float:
    """Two decimals, halves up, as a person rounds the number that is written."""
    return float(Decimal(repr(float(number))).quantize(Decimal("0.01"), ROUND_HALF_UP))


def _by_student_and_lab(overrides: Iterable[Override], students: Roster) -> dict[tuple[Student, str], dict[str, Override]]:
    """The overrides of each student's lab by exercise, "" for the whole lab."""
    found: dict[tuple[Student, str], dict[str, Override]] = {}
    for override in overrides:
        student = students.find(override.student)
        if student is None:
            near = nearest(override.student, (s.id for s in students.students))
            why = students.why(override.student) if students.fitting(override.student) else "is no student"
            raise override.wrong(f"{override.student!r} {why}{f'; did you mean {near}?' if near else ''}")
        of_lab = found.setdefault((student, override.lab), {})
        if override.exercise in of_lab:
            raise override.wrong(f"line {of_lab[override.exercise].line} sets the same points already")
        of_lab[override.exercise] = override
    return found


def _extended(course: Course, students: Roster) -> dict[tuple[Student, str], datetime]:
    """The extensions of students who are known; of two for one student and lab, the later."""
    found: dict[tuple[Student, str], datetime] = {}
    for (name, stem), due in course.extensions.items():
        student = students.find(name)
        if student:
            found[student, stem] = max(due, found.get((student, stem), due))
    return found


def _score(
    student: Student,
    lab: Lab,
    records: Sequence[Record],
    settings: LabSettings,
    extended: datetime | None,
    fixed: Mapping[str, Override],
) -> Score:
    record, doubled = _counted(records)
    due = extended or settings.due
    submitted, said = _submitted(record) if record else (None, NO_SUBMISSION)
    late_days = _late_days(submitted, due, settings.late) if submitted and due else 0
    possible = _points(None, lab, {})[1] if settings.points is None else settings.points
    own, own_possible = _points(record, lab, fixed)
    raw = rounded(own * possible / own_possible) if own_possible else 0.0
    penalty = rounded(raw * _share_lost(late_days, settings.late))
    notes = [record.problem if record else "", doubled, said, *_lateness(record, submitted, due, extended, late_days, settings.late)]
    notes += ["graded without a sandbox" if record and not record.isolated else "", *(_by_hand(o) for o in fixed.values())]
    score = Score(student, lab.stem, raw, rounded(possible), penalty, rounded(raw - penalty), submitted, due, late_days)
    if "" in fixed:
        score = replace(score, penalty=0.0, score=rounded(fixed[""].points))
    return replace(score, note=_notes(student, notes), file=record.file if record else "", overridden=bool(fixed))


def _counted(records: Sequence[Record]) -> tuple[Record | None, str]:
    """The record that counts: one that was graded; of several, the one handed in last, or, where no time is told, the first by file."""
    graded = [record for record in records if not record.problem] or list(records)
    if not graded:
        return None, ""
    told = [record for record in graded if _submitted(record)[0]]
    counted = max(told, key=lambda r: _submitted(r)[0]) if len(told) == len(graded) else graded[0]
    several = f"{len(graded)} {_DOUBLE}" if len(graded) > 1 and not counted.problem else ""
    return counted, several


def _points(record: Record | None, lab: Lab, fixed: Mapping[str, Override]) -> tuple[float, float]:
    """The points that the exercises have, overrides applied, and those they can have; of a choice the best counts."""
    rows = [(r.exercise, r.points, r.possible, r.choice) for r in record.results] if record else []
    there = {exercise for exercise, *_ in rows}
    rows += [(e.id, 0, e.points, e.choice) for e in lab.exercises if e.id not in there and (not there or e.id in fixed)]
    gained: dict[tuple[str, str], float] = {}
    possible: dict[tuple[str, str], float] = {}
    for exercise, points, most, choice in rows:
        group = (choice, "" if choice else exercise)
        points = fixed[exercise].points if exercise in fixed else points
        gained[group] = max(points, gained.get(group, 0))
        possible[group] = max(most, possible.get(group, 0))
    return sum(gained.values()), sum(possible.values())


def _submitted(record: Record) -> tuple[datetime | None, str]:
    """When a record was handed in, or, where that is told but no time, a note."""
    if not record.submitted:
        return None, ""
    try:
        moment = datetime.fromisoformat(record.submitted)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or moment.year not in YEARS:
        return None, f"the time {record.submitted!r} cannot be read"
    return moment, ""


def _late_days(submitted: datetime, due: datetime, late: LatePolicy) -> int:
    after = submitted - due - timedelta(minutes=late.grace_minutes)
    return max(0, -(-after // timedelta(days=1)))


def _share_lost(late_days: int, late: LatePolicy) -> float:
    if late.days is not None and late_days > late.days:
        return 1.0
    return min(1.0, late_days * late.percent_per_day / 100)


def _lateness(
    record: Record | None, submitted: datetime | None, due: datetime | None, extended: datetime | None, late_days: int, late: LatePolicy
) -> Iterator[str]:
    """Notes on what is late, or cannot be told to be."""
    if extended:
        yield "extension"
    if late_days:
        yield f"{late_days} {'day' if late_days == 1 else 'days'} late"
        if late.days is not None and late_days > late.days:
            yield f"nothing counts after {late.days} {'day' if late.days == 1 else 'days'}"
    elif record and due and not submitted:
        yield "late by the platform, no time is told: no penalty" if record.late else "no time is told: taken as in time"
    elif record and record.late and not due:
        yield "late by the platform, no due time is set: no penalty"


def _by_hand(override: Override) -> str:
    what = f"{override.exercise} set" if override.exercise else "score set"
    return f"{what} by hand: {override.reason}" if override.reason else f"{what} by hand"


def _notes(student: Student, notes: Sequence[str]) -> str:
    return "; ".join(filter(None, [student.unlisted, *notes]))


def _listed(names: Sequence[str], one: str, several: str) -> str:
    """A line that counts names and gives the first of them."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{len(names)} {one if len(names) == 1 else several}: {', '.join(names[:MOST_NAMED])}{more}" if names else ""
