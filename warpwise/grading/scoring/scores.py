"""Scores from records: the course's points, late policy and overrides applied.

Numbers are rounded to two decimals, halves up, before they are added or subtracted, so that every
row of a gradebook adds up."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

from warpwise.errors import GradingError
from warpwise.grading.record import NOT_YET, Record
from warpwise.grading.scoring import lateness, schedule
from warpwise.grading.scoring.course import Course, LabSettings
from warpwise.grading.scoring.overrides import Override
from warpwise.grading.scoring.roster import Roster, Student, folded
from warpwise.labs.source import Lab

NO_SUBMISSION = "no submission"
NOT_DUE = "no submission yet, and not due yet"
NOT_ASSIGNED = "not assigned: in no total"
MOST_NAMED = 5
_DOUBLE = "graded notebooks under one student"


@dataclass(frozen=True)
class Score:
    """One student's score for one lab, in the course's points.

    ``score`` is ``raw`` less ``penalty``, or set by an override. ``late_days`` counts the days that
    have begun since ``due`` and its grace. ``lab`` is empty for a file whose lab is not known.
    ``counts`` is False for a lab that was not assigned, or is missing and not due, which is in no
    total. ``not_yet`` is True while a submission for it is still to be graded; then the numbers
    mean nothing."""

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
    counts: bool = True
    extended: bool = False
    by_hand: tuple[str, ...] = ()  #: what was set so, and why
    not_yet: bool = False

    @property
    def blank(self) -> bool:
        """True if its numbers mean nothing, as while a submission is not graded or not due."""
        return not self.lab or self.not_yet or not (self.counts or self.file)


def scores(
    records: Iterable[Record],
    labs: Mapping[str, Lab],
    course: Course | None = None,
    roster: Roster | None = None,
    overrides: Sequence[Override] = (),
    assigned: Collection[str] | None = None,
    now: datetime | None = None,
) -> tuple[Score, ...]:
    """Return a score for every student and every lab that anybody has a record or override of.

    Of labs that are not ``assigned``, if those are known, only students who handed one in, or have
    an override, have a score; it counts only by an override. Nor does what is missing and ``now``
    not due yet.
    Students come in the roster's order, then those who are not on it, each with their labs in
    order. Without a roster the students are those of the records, whose order makes no difference.
    Raises GradingError for a record of a lab that is not in ``labs``, and for an override of an
    unknown student."""
    course = course or Course()
    handed_in = by_student(records, roster)
    students = everyone(handed_in, roster)
    fixed = _by_student_and_lab(overrides, students)
    extended = _extended(course, students)
    graded = {lab for theirs in handed_in.values() for lab in theirs}
    stems = sorted({*graded, *(override.lab for override in overrides)} - {""})
    for lab in stems:
        if lab not in labs:
            raise GradingError(
                f"there are records of {lab}, which is not a lab of this course; name its course "
                "with --course"
            )
    made = []
    for student in students.students:
        theirs = handed_in.get(student, {})
        missing = _missing(theirs.get("", ()))
        for stem in stems:
            key, own = (student, stem), theirs.get(stem, ())
            due, by_hand = extended.get(key), fixed.get(key, {})
            counts = assigned is None or stem in assigned or bool(by_hand)
            if counts or own:
                score = _score(student, labs[stem], own, course.lab(stem), due, by_hand, missing)
                waits = now is not None and score.due is not None and now < score.due
                if waits and not own and not by_hand:
                    score = replace(score, counts=False, note=_notes(student, [NOT_DUE]))
                elif not counts:
                    score = _uncounted(score)
                made.append(score)
        for record in theirs.get("", ()):
            note = _notes(student, [record.problem])
            not_yet = record.problem == NOT_YET
            made.append(Score(student, "", note=note, file=record.file, not_yet=not_yet))
    return tuple(made)


def by_student(
    records: Iterable[Record], roster: Roster | None
) -> dict[Student, dict[str, list[Record]]]:
    """Return everybody who handed something in, with their records of each lab.

    A name that several of them go by, as they may choose, finds nobody on the roster."""
    known: dict[tuple[str, str], Student] = {}
    found: dict[Student, dict[str, list[Record]]] = {}
    ordered = sorted(records, key=lambda r: (r.student, r.lab, r.file, r.name))
    bearers = Counter(name for name, _ in {(folded(r.name), r.student) for r in ordered})
    for record in ordered:
        alone = bearers[folded(record.name)] == 1
        student = student_of(record, roster, record.name if alone else "")
        student = known.setdefault((student.id, student.unlisted), student)
        found.setdefault(student, {}).setdefault(record.lab, []).append(record)
    return found


def student_of(record: Record, roster: Roster | None, name: str) -> Student:
    if roster is None:
        return Student(record.student, record.name)
    found = roster.find(record.student) or roster.find(name)
    return found or Student(record.student, record.name, unlisted=roster.why(record.student))


def everyone(handed_in: Collection[Student], roster: Roster | None) -> Roster:
    """Return the roster's students in its order, then others who handed something in."""
    listed = roster.students if roster else ()
    others = sorted(set(handed_in) - set(listed), key=lambda s: (folded(s.id), s.id, s.unlisted))
    return Roster((*listed, *others))


def percentages(scores: Iterable[Score], course: Course) -> dict[Student, float]:
    """Return each student's total: the mean of their labs' percentages, weighted by lab.

    Who has a submission that is not graded yet has none."""
    scores = tuple(scores)
    waiting = {score.student for score in scores if score.not_yet}
    gained: defaultdict[Student, float] = defaultdict(float)
    weights: defaultdict[Student, float] = defaultdict(float)
    for score in scores:
        if score.lab and score.possible and score.counts and score.student not in waiting:
            weight = course.lab(score.lab).weight
            gained[score.student] += weight * score.score / score.possible
            weights[score.student] += weight
    return {
        student: rounded(100 * gained[student] / weight)
        for student, weight in weights.items()
        if weight
    }


def warnings(
    scores: Collection[Score], course: Course, roster: Roster | None = None
) -> tuple[str, ...]:
    """Return a line for each thing that an instructor should look at.

    These are students who are not on the roster, files without a lab, labs handed in twice or at an
    unknown time, and extensions of unknown students."""
    students = Roster(tuple(dict.fromkeys(score.student for score in scores)))
    found = {
        "handed something in, but not on the roster": [
            repr(score.student.id) for score in scores if score.student.unlisted
        ],
        "files of no known lab": [repr(score.file) for score in scores if not score.lab],
        "more than one graded notebook": [
            f"{s.student.id!r} for {s.lab} ({s.file!r} counts)" for s in scores if _DOUBLE in s.note
        ],
        "handed in at a time that is not known (see --times), and taken as on time": [
            f"{s.student.id!r} for {s.lab}" for s in scores if s.file and s.due and not s.submitted
        ],
        "extensions of unknown students": [
            repr(name) for name, _ in course.extensions if roster and not students.find(name)
        ],
    }
    return tuple(listed(what, names) for what, names in found.items() if names)


def rounded(number: float) -> float:
    """Round to two decimals, halves up, as a person rounds the number that is written."""
    return float(Decimal(repr(float(number))).quantize(Decimal("0.01"), ROUND_HALF_UP))


def _by_student_and_lab(
    overrides: Iterable[Override], students: Roster
) -> dict[tuple[Student, str], dict[str, Override]]:
    """Group the overrides by student and lab, then by exercise, "" for the whole lab."""
    found: dict[tuple[Student, str], dict[str, Override]] = {}
    for override in overrides:
        student = students.find(override.student)
        if student is None:
            raise override.wrong(students.nobody(override.student))
        of_lab = found.setdefault((student, override.lab), {})
        if override.exercise in of_lab:
            earlier = of_lab[override.exercise].line
            raise override.wrong(f"line {earlier} already sets the same points")
        of_lab[override.exercise] = override
    return found


def _extended(course: Course, students: Roster) -> dict[tuple[Student, str], datetime]:
    """Return the extensions of known students; of two for one student and lab, the later."""
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
    missing: str,
) -> Score:
    """Return a student's score for a lab; ``missing`` is the note where there is no record."""
    not_yet = any(record.problem == NOT_YET for record in records)
    record, doubled = _scored_record(student, records)
    due = extended or settings.due
    submitted, said = lateness.submitted(record) if record else (None, missing)
    late_days = lateness.late_days(submitted, due, settings.late) if submitted and due else 0
    possible = schedule.points(settings, lab)
    own, own_possible = _points(record, lab, fixed, settings.over_budget)
    raw = rounded(own * possible / own_possible) if own_possible else 0.0
    penalty = rounded(raw * lateness.share_lost(late_days, settings.late))
    score = rounded(raw - penalty)
    if "" in fixed:
        penalty, score = 0.0, rounded(fixed[""].points)
    by_hand = tuple(_by_hand(override) for override in fixed.values())
    notes = [
        NOT_YET if not_yet else record.problem if record else "",
        doubled,
        said,
        *lateness.notes(record, submitted, due, extended, late_days, settings.late),
        "graded without a sandbox" if record and not record.isolated else "",
        "a notebook of an older version of the lab" if record and record.note else "",
        _over_budget(record, fixed, settings.over_budget),
        *by_hand,
    ]
    return Score(
        student,
        lab.stem,
        raw,
        rounded(possible),
        penalty,
        score,
        submitted,
        due,
        late_days,
        note=_notes(student, notes),
        file=record.file if record else "",
        overridden=bool(fixed),
        extended=extended is not None,
        by_hand=by_hand,
        not_yet=not_yet,
    )


def _uncounted(score: Score) -> Score:
    note = f"{score.note}; {NOT_ASSIGNED}" if score.note else NOT_ASSIGNED
    return replace(score, counts=False, note=note)


def _missing(lost: Sequence[Record]) -> str:
    """Return the note on a lab of which there is no record, but perhaps some of no known lab."""
    if not lost:
        return NO_SUBMISSION
    more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    return f"{NO_SUBMISSION} known to be of this lab; there is {lost[0].file!r}{more}"


def _scored_record(student: Student, records: Sequence[Record]) -> tuple[Record | None, str]:
    """Return the record that counts, and a note if it was chosen among several.

    It is one that was graded; of several, the one handed in last. If the times are not all known,
    it is the first under the student's very id, or else the first."""
    graded = [record for record in records if not record.problem] or list(records)
    if not graded:
        return None, ""
    times = [(moment, r) for r in graded if (moment := lateness.submitted(r)[0])]
    if len(times) == len(graded):
        last = max(times, key=lambda timed: timed[0])[1]
    else:
        last = next((record for record in graded if record.student == student.id), graded[0])
    several = f"{len(graded)} {_DOUBLE}" if len(graded) > 1 and not last.problem else ""
    return last, several


def _points(
    record: Record | None, lab: Lab, fixed: Mapping[str, Override], over_budget: float = 0
) -> tuple[float, float]:
    """Sum the points that the exercises have, with overrides, and those they can have.

    Of a choice the best counts. ``over_budget`` is the percentage for a right result over it."""
    results = record.results if record else ()
    rows = [(r.exercise, r.earned(over_budget), r.possible, r.choice) for r in results]
    there = {exercise for exercise, *_ in rows}
    rows += [
        (e.id, 0, e.points, e.choice)
        for e in lab.exercises
        if e.id not in there and (not there or e.id in fixed)
    ]
    gained: dict[tuple[str, str], float] = {}
    possible: dict[tuple[str, str], float] = {}
    for exercise, points, most, choice in rows:
        group = (choice, "" if choice else exercise)
        points = fixed[exercise].points if exercise in fixed else points
        gained[group] = max(points, gained.get(group, 0))
        possible[group] = max(most, possible.get(group, 0))
    return sum(gained.values()), sum(possible.values())


def _over_budget(record: Record | None, fixed: Mapping[str, Override], over_budget: float) -> str:
    """Name the exercises that earn a share of their points for a right result over budget."""
    scored = record.scored if record and over_budget else ()
    names = [r.exercise for r in scored if r.finding.only_over_budget and r.exercise not in fixed]
    return f"{', '.join(names)} right but over budget: {over_budget:g} %" if names else ""


def _by_hand(override: Override) -> str:
    what = f"{override.exercise} set" if override.exercise else "score set"
    return f"{what} by hand: {override.reason}" if override.reason else f"{what} by hand"


def _notes(student: Student, notes: Sequence[str]) -> str:
    return "; ".join(filter(None, [student.unlisted, *notes]))


def listed(what: str, names: Iterable[str]) -> str:
    """Count names and give the first of them, each once."""
    once = list(dict.fromkeys(names))
    more = f" and {len(once) - MOST_NAMED} more" if len(once) > MOST_NAMED else ""
    return f"{what} ({len(once)}): {', '.join(once[:MOST_NAMED])}{more}"
